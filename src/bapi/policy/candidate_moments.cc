#include "bapi/policy/candidate_moments.h"

#include <map>

namespace bapi {
namespace {

struct LastPoint {
  Epoch epoch = 0;
  double value = 0.0;
};

std::map<CurveId, LastPoint> last_points(const Surrogate& model) {
  std::map<CurveId, LastPoint> last;
  const Rows& rows = model.rows();
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    LastPoint& point = last[rows.group[at]];
    if (rows.epoch[at] >= point.epoch) point = {.epoch = rows.epoch[at], .value = model.y()[i]};
  }
  return last;
}

}  // namespace

Moments candidate_moments(const CurveSurrogate& model,
                          const std::vector<Candidate>& candidates,
                          const std::vector<Epoch>& epochs,
                          Epoch max_epoch,
                          double fluctuation) {
  const std::map<CurveId, LastPoint> last = last_points(model);
  const Matrix x = stacked(candidates);
  std::vector<Eigen::Index> others;
  std::vector<Eigen::Index> paused;
  std::vector<Epoch> now;
  std::vector<double> values;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto found = last.find(candidates[i].group);
    if (found == last.end() || found->second.epoch != candidates[i].done) {
      others.push_back(static_cast<Eigen::Index>(i));
      continue;
    }
    paused.push_back(static_cast<Eigen::Index>(i));
    now.push_back(found->second.epoch);
    values.push_back(found->second.value);
  }
  const auto rows_of = [&](const std::vector<Eigen::Index>& which, const std::vector<Epoch>& at) {
    std::vector<CurveId> groups;
    for (const Eigen::Index i : which) groups.push_back(candidates[static_cast<std::size_t>(i)].group);
    return Rows::at_epochs(x(which, Eigen::all), at, max_epoch, std::move(groups));
  };
  const auto then = [&](const std::vector<Eigen::Index>& which) {
    std::vector<Epoch> at;
    for (const Eigen::Index i : which) at.push_back(epochs[static_cast<std::size_t>(i)]);
    return rows_of(which, at);
  };
  Moments all{.mean = Vector(std::ssize(candidates)), .variance = Vector(std::ssize(candidates))};
  const auto fill = [&](const std::vector<Eigen::Index>& which, const Moments& moments) {
    all.mean(which) = moments.mean;
    all.variance(which) = moments.variance;
  };
  if (!others.empty()) fill(others, model.predict(then(others)));
  if (!paused.empty()) {
    const Eigen::Map<const Vector> reached(values.data(), std::ssize(values));
    fill(paused, model.continuation(rows_of(paused, now), reached, fluctuation, then(paused)));
  }
  return all;
}

}  // namespace bapi
