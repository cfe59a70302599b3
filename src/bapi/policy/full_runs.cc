#include "bapi/policy/full_runs.h"

#include <algorithm>
#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/rungs.h"

namespace bapi {

std::optional<Decision> before_model(const History& history, const InitialDesign& design) {
  for (const Trial& trial : history.trials()) {
    if (waits(trial)) {
      return Resume{.trial = trial.id, .until = history.spec().epochs.max, .why = {.rule = "finish what was begun"}};
    }
  }
  if (design.unfinished(history) || !has_finished_trial(history)) return design.next(history);
  return std::nullopt;
}

Decision largest_improvement(const History& history,
                             const ConfigurationModel& model,
                             const InitialDesign& design,
                             Rng& rng) {
  Rng search_stream = rng.fork("new configurations");
  const std::vector<Candidate> candidates = new_configs(history, model.gp, model.best, search_stream);
  if (candidates.empty()) return design.next(history);

  const Moments at = model.gp.predict(Rows::at_configurations(stacked(candidates)));
  Vector scores(at.mean.size());
  for (Eigen::Index i = 0; i < scores.size(); ++i) {
    scores[i] = log_expected_improvement(at.mean[i], std::sqrt(at.variance[i]), model.best);
  }
  Eigen::Index best = 0;
  scores.maxCoeff(&best);
  const Candidate& chosen = candidates[static_cast<std::size_t>(best)];
  Rationale why{.rule = "largest expected improvement", .numbers = forecast_numbers(history, model, chosen.x)};
  why.numbers.emplace_back("log_ei", scores[best]);
  why.numbers.emplace_back("candidates", static_cast<double>(candidates.size()));
  return train(chosen, history.spec().epochs.max, 0.0, std::move(why));
}

NewConfigurations::NewConfigurations(const History& history)
    : history_(history), rows_(untried_rows(history)), x_(stacked(rows_)) {}

std::optional<Candidate> NewConfigurations::nearest(const Vector& x) const {
  if (!history_.spec().pool.empty()) {
    if (rows_.empty()) return std::nullopt;
    Eigen::Index row = 0;
    (x_.rowwise() - x.transpose()).rowwise().squaredNorm().minCoeff(&row);
    return rows_[static_cast<std::size_t>(row)];
  }
  Config config = history_.spec().space.decode(x);
  if (is_tried(history_, config)) return std::nullopt;
  return new_candidate(history_, std::move(config), 0);
}

std::vector<std::pair<std::string, double>> forecast_numbers(const History& history,
                                                             const ConfigurationModel& model,
                                                             const Vector& x) {
  const Moments at = model.gp.predict(Rows::at_configurations(x.transpose()));
  const double sd = std::sqrt(at.variance[0] + model.gp.parameters().noise);
  return {{"predicted", history.in_user_units(model.scale.undo(at.mean[0]))},
          {"sd", sd * model.scale.slope(at.mean[0])},
          {"at_epoch", static_cast<double>(history.spec().epochs.max)},
          {"incumbent", history.in_user_units(model.scale.undo(model.best))}};
}

}  // namespace bapi
