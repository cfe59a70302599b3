#include "bapi/policy/ei.h"

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/policy/configuration_model.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/options.h"
#include "bapi/policy/rungs.h"

namespace bapi {

PolicyInfo ExpectedImprovement::info() {
  return {.name = "ei",
          .summary = "Gaussian process over configurations, full runs, largest expected improvement",
          .options = {{"initial_runs", "auto", "runs before the first model; auto (parameters + 1) or 1 to 1000"}}};
}

ExpectedImprovement::ExpectedImprovement(const PolicySpec& spec) {
  const OptionReader options(spec, info());
  design_.runs = static_cast<int>(options.real_or("initial_runs", "auto", std::nullopt, 1.0, 1000.0).value_or(0.0));
}

Decision ExpectedImprovement::ask(const History& history, Rng& rng) {
  const Epoch last = history.spec().epochs.max;
  for (const Trial& trial : history.trials()) {  // a run that the budget cut short goes on when it is raised
    if (waits(trial)) return Resume{.trial = trial.id, .until = last, .why = {.rule = "finish what was begun"}};
  }
  if (design_.unfinished(history) || !has_finished_trial(history)) return design_.next(history);

  Rng model_stream = rng.fork("model");
  const ConfigurationModel model = fit_configurations(history, model_stream);
  Rng search_stream = rng.fork("new configurations");
  const std::vector<Candidate> candidates = new_configs(history, model.gp, model.best, search_stream);
  if (candidates.empty()) return design_.next(history);

  const Moments at = model.gp.predict(Rows::at_configurations(stacked(candidates)));
  Vector scores(at.mean.size());
  for (Eigen::Index i = 0; i < scores.size(); ++i) {
    scores[i] = log_expected_improvement(at.mean[i], std::sqrt(at.variance[i]), model.best);
  }
  Eigen::Index best = 0;
  scores.maxCoeff(&best);
  return train(candidates[static_cast<std::size_t>(best)],
               last,
               0.0,
               {.rule = "largest expected improvement",
                .numbers = {{"predicted", history.in_user_units(model.scale.undo(at.mean[best]))},
                            {"sd", std::sqrt(at.variance[best]) * model.scale.scale},
                            {"log_ei", scores[best]},
                            {"incumbent", history.in_user_units(model.scale.undo(model.best))},
                            {"candidates", static_cast<double>(candidates.size())}}});
}

}  // namespace bapi
