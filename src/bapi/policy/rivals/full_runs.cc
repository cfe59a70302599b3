#include "bapi/policy/rivals/full_runs.h"

#include <algorithm>
#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/rungs.h"

namespace bapi {

std::optional<Decision> before_model(const History& history, const InitialDesign& design) {
  for (const Trial& trial : history.trials()) {
    if (trial.resumable()) {
      return Resume{.trial = trial.id, .until = history.spec().epochs.max, .why = {.rule = Rule::finish_begun}};
    }
  }
  if (design.unfinished(history) || !has_finished_trial(history)) return design.next(history);
  return std::nullopt;
}

Decision largest_improvement(const Evidence& evidence,
                             const ConfigurationModel& model,
                             const InitialDesign& design,
                             Rng& rng) {
  const History& history = evidence.history();
  Rng search_stream = rng.fork("new configurations");
  const std::vector<Candidate> candidates = new_configs(evidence, model.gp, model.best, search_stream);
  if (candidates.empty()) return design.next(history);

  const Moments at = model.gp.predict(Rows::at_configurations(stacked(candidates)));
  Vector scores = log_success(evidence, candidates);
  for (Eigen::Index i = 0; i < scores.size(); ++i) {
    scores[i] += log_expected_improvement(at.mean[i], std::sqrt(at.variance[i]), model.best);
  }
  Eigen::Index best = 0;
  scores.maxCoeff(&best);
  const Candidate& chosen = candidates[static_cast<std::size_t>(best)];
  return train(chosen,
               history.spec().epochs.max,
               0.0,
               {.rule = Rule::largest_improvement,
                .forecast = forecast_full_run(history, model, chosen.x),
                .score = score_in_metric(model.scale, model.best, scores[best]),
                .candidates = static_cast<int>(candidates.size()),
                .notes = notes_of_failures(evidence, chosen)});
}

NearestUntried::NearestUntried(const History& history)
    : history_(history), rows_(untried_rows(history)), x_(stacked(rows_)) {}

std::optional<Candidate> NearestUntried::nearest(const Vector& x) const {
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

Forecast forecast_full_run(const History& history, const ConfigurationModel& model, const Vector& x) {
  const Moments at = model.gp.predict(Rows::at_configurations(x.transpose()));
  return forecast_of(history,
                     model.scale,
                     {.epoch = history.spec().epochs.max,
                      .mean = at.mean[0],
                      .sd = std::sqrt(at.variance[0]),
                      .measured_sd = std::sqrt(at.variance[0] + model.gp.noise()),
                      .best = model.best,
                      .target = model.best});
}

bool has_finished_trial(const History& history) {
  return std::any_of(history.trials().begin(), history.trials().end(), [](const Trial& trial) {
    return trial.state == TrialState::completed && !trial.curve.empty();
  });
}

ConfigurationModel fit_configurations(const Evidence& evidence, Rng& rng) {
  check(has_finished_trial(evidence.history()), "fit_configurations: there is nothing to learn from yet");
  ConfigurationModel model = ConfigurationModel::fit(evidence.outcomes(), stacked_x(evidence.running()), rng);
  model.scale.bound.bounds = evidence.bounds();  // of what is told
  return model;
}

FullRunCost fit_full_run_cost(const Evidence& evidence, Rng& rng) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : evidence.history().trials()) {
    if (trial.state == TrialState::completed && trial.spent() > 0.0) trials.push_back(&trial);
  }
  Matrix x(std::ssize(trials), evidence.spec().space.encoded_dim());
  Vector costs(std::ssize(trials));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    x.row(row) = evidence.x()[static_cast<std::size_t>(index(trials[i]->id))].transpose();
    costs[row] = trials[i]->spent();
  }
  return FullRunCost::fit(x, costs, rng);
}

Cost left_after_running(const Evidence& evidence, const FullRunCost& cost) {
  const History& history = evidence.history();
  Cost left = history.budget().remaining();
  for (const Trial& trial : history.trials()) {
    if (!trial.segment) continue;
    const Cost expected = cost.median(evidence.at(trial).x);
    left -= std::max(0.0, expected - trial.segment->spent);
  }
  return std::max(0.0, left);
}

}  // namespace bapi
