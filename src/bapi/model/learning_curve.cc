#include "bapi/model/learning_curve.h"

#include <algorithm>
#include <cmath>
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

std::vector<Epoch> LearningCurve::epochs() const {
  std::vector<Epoch> epochs;
  auto gap = gaps.begin();
  for (Epoch epoch = 1; std::ssize(epochs) < std::ssize(values); ++epoch) {
    if (gap != gaps.end() && *gap == epoch) {
      ++gap;
    } else {
      epochs.push_back(epoch);
    }
  }
  return epochs;
}

std::vector<double> LearningCurve::dense() const {
  if (gaps.empty()) return values;
  const std::vector<Epoch> known = epochs();
  std::vector<double> all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double before = i > 0 ? values[i - 1] : values[i];
    const double from = static_cast<double>(all.size());
    const double width = known[i] - from;
    for (Epoch epoch = static_cast<Epoch>(from) + 1; epoch < known[i]; ++epoch) {
      all.push_back(std::lerp(before, values[i], (epoch - from) / width));
    }
    all.push_back(values[i]);
  }
  return all;
}

Cost LearningCurve::full_cost() const {
  return gaps.empty() ? cost : cost * last_epoch() / static_cast<double>(values.size());
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
