#include "bapi/policy/rivals/step_by_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "bapi/acquisition/improvement.h"
#include "bapi/math/normal.h"
#include "bapi/policy/candidate_moments.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/model_decision.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/pending.h"
#include "bapi/policy/rungs.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

// Uniform draws that join the candidates of a space without a pool.
constexpr int kUniformCandidates = 512;

constexpr double kMinSd = 1e-9;

std::vector<Candidate> candidates_of(const Evidence& evidence, const Surrogate& model, double best, const Rng& rng) {
  const History& history = evidence.history();
  std::vector<Candidate> candidates = paused_and_new(evidence, model, best, rng);
  if (can_be_listed(history.spec())) return candidates;
  Rng uniform = rng.fork("uniform configurations");
  for (int i = 0; i < kUniformCandidates; ++i) {
    Config config = history.spec().space.sample(uniform);
    if (is_tried(history, config)) continue;
    candidates.push_back(new_candidate(history, std::move(config), static_cast<int>(candidates.size())));
  }
  return candidates;
}

Vector deviations(const Moments& moments) {
  return moments.variance.unaryExpr([](double variance) { return std::max(kMinSd, std::sqrt(variance)); });
}

const OptionTable<StepByStepOptions>& step_by_step_table() {
  static const auto all = OptionTable<StepByStepOptions>()
                              .real(
                                  "rung_ratio",
                                  [](StepByStepOptions & o) -> auto& { return o.rung_ratio; },
                                  1.0,
                                  10.0,
                                  "ratio of a rung's epochs to those of the rung before; 1 is the next epoch")
                              .part(
                                  initial_runs_option(), [](StepByStepOptions & o) -> auto& { return o.design; })
                              .real(
                                  "initial_epochs",
                                  [](StepByStepOptions & o) -> auto& { return o.design.epochs; },
                                  0.001,
                                  1.0,
                                  "share of all epochs that each of these, and every new trial, gets first")
                              .real(
                                  "initial_share",
                                  [](StepByStepOptions & o) -> auto& { return o.design.budget_share; },
                                  0.01,
                                  1.0,
                                  "share of the budget that the initial trials may use");
  return all;
}

}  // namespace

Moments StepByStep::Lineup::at(const std::vector<Epoch>& epochs) const {
  const Expectations expected = candidate_moments(models, curves, candidates, epochs, models.fluctuation);
  return {.mean = expected.mean, .variance = expected.latent_sd.cwiseAbs2()};
}

Forecast StepByStep::Lineup::forecast(std::size_t candidate, Epoch epoch, double mean, double sd, double target) const {
  return forecast_of(
      history,
      models.scale,
      prognosis_of(models, curves, candidates[candidate].at(), {epoch}, models.fluctuation),
      0,
      {.mean = mean, .sd = sd, .target = target, .log_unit = score_in_metric(models.scale, models.best, 0.0).log},
      models.best);
}

std::vector<PolicyOptionInfo> StepByStep::common_options() { return step_by_step_table().describe({}); }

StepByStep::StepByStep(const PolicySpec& spec) : options_(step_by_step_table().read(spec, {})) {}

Decision StepByStep::ask(const History& history, Rng& rng) {
  return decide_with_models(history, options_.design, {}, rng, [&](const Evidence& evidence, const Models& models) {
    return train_to_next_rung(evidence, models, rng);
  });
}

Decision StepByStep::train_to_next_rung(const Evidence& evidence, const Models& models, const Rng& rng) const {
  const History& history = evidence.history();
  const Epoch last = evidence.epochs().max;
  const std::unique_ptr<CurveSurrogate> curves = with_running(models, pending_at_their_ends(evidence.running(), last));
  const std::vector<Candidate> candidates = candidates_of(evidence, *curves, models.best, rng);
  if (candidates.empty()) return nothing_to_do(history, kPoolExhausted);

  std::vector<Epoch> next;
  const Epoch first = options_.design.first_rung(history.spec());
  for (const Candidate& candidate : candidates)
    next.push_back(next_rung(candidate.done, first, options_.rung_ratio, last));
  Rng draws = rng.fork("score");
  const Vector success = log_success(evidence, candidates);
  const Lineup lineup{history, models, *curves, candidates, next, success};
  Chosen choice = choose(lineup, draws);
  choice.why.candidates = static_cast<int>(candidates.size());
  for (Note& note : notes_of(models.surrogate->fit_summary())) choice.why.notes.push_back(std::move(note));
  for (Note& note : notes_of_failures(evidence, candidates[choice.candidate])) {
    choice.why.notes.push_back(std::move(note));
  }
  return train(candidates[choice.candidate], next[choice.candidate], 0.0, std::move(choice.why));
}

PolicyInfo FreezeThaw::info() {
  return {.name = "freeze-thaw",
          .summary = "trains what most likely beats a random threshold in a random time",
          .options = common_options()};
}

StepByStep::Chosen FreezeThaw::choose(const Lineup& lineup, Rng& rng) const {
  const Epoch last = lineup.history.spec().epochs.max;
  const Epoch horizon = 1 + rng.below(last);
  const double hope = std::pow(10.0, -4.0 + 3.0 * rng.uniform()) * lineup.models.range;
  const double threshold = lineup.models.best + hope;
  std::vector<Epoch> epochs;
  for (const Candidate& candidate : lineup.candidates) epochs.push_back(std::min(last, candidate.done + horizon));
  const Moments moments = lineup.at(epochs);
  const Vector sds = deviations(moments);
  Vector scores(sds.size());
  for (Eigen::Index i = 0; i < scores.size(); ++i) {
    scores[i] = log_normal_cdf((moments.mean[i] - threshold) / sds[i]) + lineup.log_success[i];
  }
  Eigen::Index best = 0;
  const double top = scores.maxCoeff(&best);
  const auto chosen = static_cast<std::size_t>(best);
  return {.candidate = chosen,
          .why = {.rule = Rule::beats_threshold,
                  .forecast = lineup.forecast(chosen, epochs[chosen], moments.mean[best], sds[best], threshold),
                  .score = Score{.log = top, .unit = ScoreUnit::probability},
                  .notes = {{.kind = NoteKind::epochs_ahead, .value = static_cast<double>(horizon)}}}};
}

double best_by_epoch(const History& history, Epoch epoch) {
  double best_there = -std::numeric_limits<double>::infinity();
  double best_of_all = best_there;
  for (const Trial& trial : history.trials()) {
    best_of_all = std::max(best_of_all, trial.curve.best());
    if (trial.curve.last_epoch() < epoch) continue;
    best_there = std::max(best_there, trial.curve.best_by(epoch));
  }
  return std::isfinite(best_there) ? best_there : best_of_all;
}

PolicyInfo DyHpo::info() {
  return {.name = "dyhpo", .summary = "trains what should improve most by its next rung", .options = common_options()};
}

StepByStep::Chosen DyHpo::choose(const Lineup& lineup, Rng&) const {
  std::map<Epoch, double> best_by;  // standardised
  for (const Epoch epoch : lineup.next) {
    if (best_by.contains(epoch)) continue;
    const double seen = best_by_epoch(lineup.history, epoch);
    best_by[epoch] = std::isfinite(seen) ? lineup.models.scale.apply(seen) : lineup.models.best;
  }
  const Moments moments = lineup.at(lineup.next);
  const Vector sds = deviations(moments);
  Vector scores(sds.size());
  for (Eigen::Index i = 0; i < scores.size(); ++i) {
    const double target = best_by.at(lineup.next[static_cast<std::size_t>(i)]);
    scores[i] = log_expected_improvement(moments.mean[i], sds[i], target) + lineup.log_success[i];
  }
  Eigen::Index best = 0;
  const double top = scores.maxCoeff(&best);
  const auto chosen = static_cast<std::size_t>(best);
  const Epoch rung = lineup.next[chosen];
  return {.candidate = chosen,
          .why = {.rule = Rule::improvement_at_next_rung,
                  .forecast = lineup.forecast(chosen, rung, moments.mean[best], sds[best], best_by.at(rung)),
                  .score = score_in_metric(lineup.models.scale, lineup.models.best, top)}};
}

}  // namespace bapi
