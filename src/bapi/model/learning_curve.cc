#include "bapi/model/learning_curve.h"

#include <algorithm>
#include <limits>

namespace bapi {
namespace {

Rows rows_at(const std::vector<RunningCurve>& running, std::vector<Epoch> epochs, Epoch max_epoch) {
  std::vector<CurveId> groups;
  for (const RunningCurve& each : running) groups.push_back(each.at.group);
  return Rows::at_epochs(stacked_x(running), std::move(epochs), max_epoch, std::move(groups));
}

}  // namespace

double LearningCurve::best() const {
  double best = -std::numeric_limits<double>::infinity();
  for (const double value : values) best = std::max(best, value);
  return best;
}

Matrix stacked_x(const std::vector<RunningCurve>& running) {
  Matrix x(std::ssize(running), running.empty() ? 0 : running.front().at.x.size());
  for (std::size_t i = 0; i < running.size(); ++i) x.row(static_cast<Eigen::Index>(i)) = running[i].at.x.transpose();
  return x;
}

Rows pending_at_their_ends(const std::vector<RunningCurve>& running, Epoch max_epoch) {
  std::vector<Epoch> epochs;
  for (const RunningCurve& each : running) epochs.push_back(each.until);
  return rows_at(running, std::move(epochs), max_epoch);
}

Rows pending_at_last_epoch(const std::vector<RunningCurve>& running, Epoch max_epoch) {
  return rows_at(running, std::vector<Epoch>(running.size(), max_epoch), max_epoch);
}

}  // namespace bapi
