#include "bapi/policy/full_run_cost.h"

#include <algorithm>
#include <cmath>

#include "bapi/gp/fit.h"
#include "bapi/policy/configuration_model.h"

namespace bapi {

Cost FullRunCost::median(const Vector& x) const {
  return std::exp(unit.undo(gp.predict(Rows::at_configurations(x.transpose())).mean[0]));
}

FullRunCost fit_full_run_cost(const History& history, Rng& rng) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : history.trials()) {
    if (trial.state == TrialState::completed && trial.spent() > 0.0) trials.push_back(&trial);
  }
  Matrix x(std::ssize(trials), history.spec().space.encoded_dim());
  Vector logs(std::ssize(trials));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    x.row(row) = history.spec().space.encode(trials[i]->config).transpose();
    logs[row] = std::log(trials[i]->spent());
  }
  const Standardization unit = standardization(logs);
  const Rows rows = Rows::at_configurations(std::move(x));
  return {.gp = fit_over_configurations(rows, unit.apply(logs), rng), .unit = unit};
}

Cost left_after_running(const History& history, const FullRunCost& cost) {
  Cost left = history.budget().remaining();
  for (const Trial& trial : history.trials()) {
    if (!trial.segment) continue;
    const Cost expected = cost.median(history.spec().space.encode(trial.config));
    left -= std::max(0.0, expected - trial.segment->spent);
  }
  return std::max(0.0, left);
}

}  // namespace bapi
