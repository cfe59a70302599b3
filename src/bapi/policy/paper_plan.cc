#include "bapi/policy/paper_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/model/spread.h"
#include "bapi/planner/early_termination.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/model_decision.h"
#include "bapi/policy/rungs.h"

namespace bapi {
namespace {

// The trial of the plan whose block of epochs has ended and that has not been looked at since: every decision looks at
// one, in the order in which blocks ended, so that none is passed over where several workers report at once.
const Trial* due_for_a_look(const History& history) {
  std::vector<const Trial*> ended;
  for (const Trial& trial : history.trials()) {
    const int blocks = trial.starts - (trial.segment ? 1 : 0);
    const bool initial = blocks == 1 && trial.assignment.initial_run.has_value();
    const bool may_go_on = trial.segment || trial.resumable();
    if (blocks > 0 && !initial && may_go_on) ended.push_back(&trial);
  }
  std::stable_sort(
      ended.begin(), ended.end(), [](const Trial* a, const Trial* b) { return a->closed_at < b->closed_at; });
  int next = 0;
  for (const Trial* trial : ended) {
    const int looked_at = std::max(next, trial->closed_at);  // the number of the decision
    if (looked_at == history.decisions() && !trial->segment) return trial;
    next = looked_at + 1;
  }
  return nullptr;
}

const char* why_nothing_is_planned(HorizonEnd end) {
  return end == HorizonEnd::budget_spent ? "the remaining budget pays for none of the trials considered"
                                         : "none of the trials considered is expected to improve with further epochs";
}

// The run of the horizon that came next after the chosen one.
const PlannedRun* runner_up(const Horizon& horizon) {
  const PlannedRun* second = nullptr;
  for (const PlannedRun& run : horizon.runs) {
    if (&run == &horizon.next()) continue;
    if (!second || run.log_improvement_per_cost > second->log_improvement_per_cost) second = &run;
  }
  return second;
}

// What was known of the run that the horizon puts first, and which one it was preferred to.
Reason reasons_for_run(const History& history,
                       const Models& models,
                       const std::vector<Candidate>& candidates,
                       const Horizon& horizon) {
  const PlannedRun& next = horizon.next();
  Reason why{.rule = Rule::plan,
             .price = Price{.until = next.until, .cost = next.cost, .log_sd = models.cost.log_sd(next.x, next.from)},
             .score = Score{.log = next.log_improvement_per_cost, .unit = ScoreUnit::model},
             .plan = PlanOutline{.trials = static_cast<int>(horizon.runs.size()), .left = horizon.budget_left},
             .notes = notes_of(models.surrogate->fit_summary())};
  for (Note& note : notes_of_constraint(horizon.least_log_probability)) why.notes.push_back(std::move(note));
  if (const PlannedRun* second = runner_up(horizon)) {
    why.rival = {.log_score = second->log_improvement_per_cost};
    if (second->candidate >= 0) why.rival->trial = candidates[static_cast<std::size_t>(second->candidate)].trial;
  }
  why.forecast = forecast_of(history,
                             models.scale,
                             {.epoch = next.until,
                              .mean = next.mean,
                              .sd = next.sd,
                              .measured_sd = models.measured_sd(next.sd, next.from, next.until),
                              .errors = models.errors(next.from),
                              .best = models.best,
                              .target = models.best,
                              .reached = models.floor_of(next.group, next.from)});
  why.forecast->shortened = next.shortened;  // the budget pays for no more
  if (!next.shortened) why.forecast->flat = next.until;
  models.tell_in_metric(why);
  return why;
}

}  // namespace

PaperPlan::PaperPlan(std::string name, BapiOptions options) : name_(std::move(name)), options_(std::move(options)) {}

Decision PaperPlan::ask(const History& history, Rng& rng) {
  return decide_with_models(
      history, options_.design, options_.model, rng, [&](const Evidence& evidence, const Models& models) {
        return follow_plan(Planning(evidence, models, options_.plan), rng);
      });
}

PaperPlan::Look PaperPlan::look_at(const Trial& trial, const Planning& planning) const {
  const History& history = planning.evidence().history();
  const Models& models = planning.models();
  const StudySpec& spec = history.spec();
  const CurveAt at = planning.evidence().at(trial);
  const Epoch now = at.done;
  const std::unique_ptr<CurveContinuation> curve = planning.curve(at);
  const TerminationCheck check =
      check_termination(*curve, at, models.best, planning.stop_rule(now), {.kappa = options_.kappa});
  const Forecast forecast = forecast_of(history,
                                        models.scale,
                                        {.epoch = check.stop,
                                         .mean = check.mean_at_stop,
                                         .sd = check.sd_at_stop,
                                         .measured_sd = spread_factor(now, check.stop) * check.sd_at_stop,
                                         .errors = models.errors(now),
                                         .best = check.best,
                                         .target = check.best,
                                         .reached = models.floor_of(at.group, now)});
  BlockCheck block{.trial = trial.id,
                   .stop = check.stop,
                   .mean = forecast.mean,
                   .sd = check.sd_at_stop * models.scale.slope(check.mean_at_stop),
                   .sd_now = check.sd_now * models.scale.slope(check.mean_at_stop),
                   .incumbent = forecast.incumbent,
                   .kappa = options_.kappa};
  const Epoch next = next_check(now, check.stop, block_of(spec, options_.p));
  const Cost cost = next > now ? planning.cost_to(at, next) : 0.0;
  const bool affordable = cost <= history.budget().remaining();
  if (!check.terminate && next > now && affordable) {
    const Cost to_stop = planning.cost_to(at, check.stop);
    const Rows end = Rows::of_curve(at.x, {check.stop}, spec.epochs.max, at.group);
    const double score = curve->log_improvement(end, models.best) - std::log(to_stop);
    Reason why{.rule = Rule::to_conservative_stop,
               .forecast = forecast,
               .price = Price{.until = check.stop, .cost = to_stop, .log_sd = models.cost.log_sd(at.x, now)},
               .score = Score{.log = score},
               .check = block,
               .notes = notes_of(models.surrogate->fit_summary())};
    for (Note& note : notes_of_constraint(check.log_probability)) why.notes.push_back(std::move(note));
    why.forecast->flat = check.stop;
    models.tell_in_metric(why);
    return {.goes_on = Resume{.trial = trial.id, .until = next, .expected_cost = cost, .why = std::move(why)}};
  }
  block.outcome = check.terminate ? CheckOutcome::ended_early
                  : affordable    ? CheckOutcome::at_stop
                                  : CheckOutcome::unaffordable;
  Look look{.ended = block};
  look.in_words = check.terminate ? fmt::format("trial {} is not expected to become the best", at.group)
                  : affordable
                      ? fmt::format("trial {} has reached its conservative stop, epoch {}", at.group, check.stop)
                      : fmt::format("the next epochs of trial {} do not fit the budget", at.group);
  return look;
}

Decision PaperPlan::follow_plan(const Planning& planning, Rng& rng) const {
  const History& history = planning.evidence().history();
  const Models& models = planning.models();
  const StudySpec& spec = history.spec();
  Look ended;  // why the run before was given up; told with the decision that takes its place
  if (const Trial* trial = due_for_a_look(history)) {
    ended = look_at(*trial, planning);
    if (ended.goes_on) return *std::move(ended.goes_on);
  }

  const std::vector<Candidate> candidates = planning.candidates();
  Rng stream = rng.fork("horizon");
  const Horizon horizon = planning.plan(candidates, history.budget().remaining(), stream);
  if (horizon.empty()) {
    const std::string reason = why_nothing_is_planned(horizon.end);
    return nothing_to_do(history, ended.in_words.empty() ? reason : ended.in_words + "; " + reason);
  }

  const PlannedRun& next = horizon.next();
  const Candidate chosen = next.candidate >= 0 ? candidates[static_cast<std::size_t>(next.candidate)]
                                               : new_candidate(history, spec.space.decode(next.x), 0);
  const Epoch until = std::min(next.until, next.from + block_of(spec, options_.p));
  Reason why = reasons_for_run(history, models, candidates, horizon);
  for (Note& note : notes_of_failures(planning.evidence(), chosen)) why.notes.push_back(std::move(note));
  why.check = ended.ended;
  const Cost cost = planning.cost_to({.x = next.x, .group = next.group, .done = next.from}, until);
  return train(chosen, until, cost, std::move(why));
}

}  // namespace bapi
