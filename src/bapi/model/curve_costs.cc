#include "bapi/model/curve_costs.h"

#include <algorithm>

namespace bapi {
namespace {

std::vector<const LearningCurve*> with_known_cost(const std::vector<LearningCurve>& all, int max_curves) {
  std::vector<const LearningCurve*> curves;
  for (const LearningCurve& curve : all) {
    if (curve.cost > 0.0) curves.push_back(&curve);
  }
  const std::size_t count = std::min(curves.size(), static_cast<std::size_t>(max_curves));
  for (std::size_t k = 0; k < count; ++k) curves[k] = curves[k * curves.size() / count];
  curves.resize(count);
  return curves;
}

}  // namespace

CostData curve_costs(const std::vector<LearningCurve>& curves, Eigen::Index dim, int max_curves) {
  CostData data;
  std::vector<const LearningCurve*> rows;
  std::vector<double> costs;
  for (const LearningCurve* curve : with_known_cost(curves, max_curves)) {
    const auto add = [&](Epoch epoch, Cost cost) {
      if (cost <= 0.0) return;
      rows.push_back(curve);
      costs.push_back(cost);
      data.epochs.push_back(epoch);
      data.groups.push_back(curve->id);
    };
    if (curve->last_epoch() > 1) add(1, curve->first_epoch_cost);
    if (curve->last_epoch() > 3) add(curve->last_epoch() / 2, curve->half_cost);
    add(curve->last_epoch(), curve->full_cost());
  }
  data.x.resize(std::ssize(rows), dim);
  data.costs.resize(std::ssize(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    data.x.row(static_cast<Eigen::Index>(i)) = rows[i]->x.transpose();
    data.costs[static_cast<Eigen::Index>(i)] = costs[i];
  }
  return data;
}

}  // namespace bapi
