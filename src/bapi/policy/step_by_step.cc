#include "bapi/policy/step_by_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "bapi/acquisition/improvement.h"
#include "bapi/math/normal.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/options.h"
#include "bapi/policy/outlook.h"
#include "bapi/policy/rungs.h"

namespace bapi {
namespace {

// Uniform draws that join the candidates of a space without a pool.
constexpr int kUniformCandidates = 512;

constexpr double kMinSd = 1e-9;

// Running trials count as if they had reached the end of their segment where the model expects them to be.
ExactGp with_open_segments(const History& history, const ExactGp& model) {
  ExactGp gp = model;
  const StudySpec& spec = history.spec();
  for (const Trial& trial : history.trials()) {
    if (!trial.segment) continue;
    const Rows row = Rows::of_curve(
        spec.space.encode(trial.config), {trial.segment->until}, spec.epochs.max, static_cast<int>(index(trial.id)));
    gp.append(row, gp.predict(row).mean);
  }
  return gp;
}

std::vector<Candidate> candidates_of(const History& history, const ExactGp& gp, double best, const Rng& rng) {
  std::vector<Candidate> candidates = paused_candidates(history);
  Rng search = rng.fork("new configurations");
  for (Candidate& candidate : new_configs(history, gp, best, search)) candidates.push_back(std::move(candidate));
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

}  // namespace

Moments StepByStep::Lineup::at(const std::vector<Epoch>& epochs) const {
  return outlook(gp, candidates, epochs, history.spec().epochs.max, models.fluctuation);
}

Forecast StepByStep::Lineup::forecast(std::size_t candidate, Epoch epoch, double mean, double sd, double target) const {
  const Candidate& c = candidates[candidate];
  const double variance = gp.predict(Rows::of_curve(c.x, {epoch}, history.spec().epochs.max, c.group)).variance[0];
  const double model_sd = std::sqrt(variance);
  return forecast_of(history,
                     models.scale,
                     {.epoch = epoch,
                      .mean = mean,
                      .sd = sd,
                      .measured_sd = std::sqrt(model_sd * model_sd + models.gp.parameters().noise),
                      .best = models.best,
                      .target = target});
}

std::vector<PolicyOptionInfo> StepByStep::common_options() {
  return {{"rung_ratio", "2", "epochs of a rung over the one before; 1 (the next epoch) to 10"},
          {"initial_runs", "auto", "runs before the first model; auto (parameters + 1) or 1 to 1000"},
          {"initial_epochs", "0.1", "share of all epochs that these, and new runs at first, get; 0.001 to 1"},
          {"initial_share", "0.25", "of the budget that the initial runs may use; 0.01 to 1"}};
}

StepByStep::StepByStep(const PolicySpec& spec, const PolicyInfo& info) {
  const OptionReader options(spec, info);
  rung_ratio_ = options.real("rung_ratio", rung_ratio_, 1.0, 10.0);
  design_.runs = options.integer_or("initial_runs", "auto", 1, 1000).value_or(0);
  design_.epochs = options.real("initial_epochs", design_.epochs, 0.001, 1.0);
  design_.budget_share = options.real("initial_share", design_.budget_share, 0.01, 1.0);
}

Epoch StepByStep::next_rung(const StudySpec& spec, Epoch done) const {
  const Epoch first = design_.first_rung(spec);
  if (done < first) return first;
  const auto grown = static_cast<Epoch>(std::llround(rung_ratio_ * done));
  return std::min(spec.epochs.max, std::max(done + 1, grown));
}

Decision StepByStep::ask(const History& history, Rng& rng) {
  if (design_.unfinished(history)) return design_.next(history);
  if (!has_data(history)) return history.open_segments() > 0 ? Decision(Wait{}) : design_.next(history);

  Rng stream = rng.fork("models");
  const Models models = fit_models(history, {}, stream);
  const ExactGp gp = with_open_segments(history, models.gp);
  const std::vector<Candidate> candidates = candidates_of(history, gp, models.best, rng);
  if (candidates.empty()) return nothing_to_do(history, kPoolExhausted);

  std::vector<Epoch> next;
  for (const Candidate& candidate : candidates) next.push_back(next_rung(history.spec(), candidate.done));
  Rng draws = rng.fork("score");
  const Lineup lineup{history, models, gp, candidates, next};
  Chosen choice = choose(lineup, draws);
  choice.why.candidates = static_cast<int>(candidates.size());
  for (Note& note : notes_of(models.fit)) choice.why.notes.push_back(std::move(note));
  if (!history.incumbent()) choice.why.forecast.reset();  // there was nothing to predict from
  return train(candidates[choice.candidate], next[choice.candidate], 0.0, std::move(choice.why));
}

PolicyInfo FreezeThaw::info() {
  return {.name = "freeze-thaw",
          .summary = "trains what most likely beats a random threshold within a random horizon, rung by rung",
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
    scores[i] = log_normal_cdf((moments.mean[i] - threshold) / sds[i]);
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
    for (Epoch t = 1; t <= epoch; ++t) best_there = std::max(best_there, trial.curve.value(t));
  }
  return std::isfinite(best_there) ? best_there : best_of_all;
}

PolicyInfo DyHpo::info() {
  return {.name = "dyhpo",
          .summary = "largest expected improvement at the next rung over the best seen by then, rung by rung",
          .options = common_options()};
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
    scores[i] = log_expected_improvement(moments.mean[i], sds[i], target);
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
