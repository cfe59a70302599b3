#include "bapi/policy/bapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/target.h"
#include "bapi/planner/early_termination.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/outlook.h"
#include "bapi/policy/planning.h"
#include "bapi/policy/rungs.h"

namespace bapi {
namespace {

constexpr const char* kNothingAffordable = "what is left of the budget pays for no further epoch";

// Running trials count as if they ended where the model expects them to: the search looks elsewhere meanwhile.
ExactGp with_running_trials(const History& history, const Models& models) {
  ExactGp gp = models.gp;
  const Epoch max_epoch = history.spec().epochs.max;
  for (const Trial& trial : history.trials()) {
    if (!trial.segment) continue;
    const Rows row = Rows::of_curve(
        history.spec().space.encode(trial.config), {max_epoch}, max_epoch, static_cast<int>(index(trial.id)));
    gp.append(row, gp.predict(row).mean);
  }
  return gp;
}

// Paused trials, and new configurations that may improve on `target`.
std::vector<Candidate> worth_considering(const History& history, const ExactGp& gp, double target, const Rng& rng) {
  std::vector<Candidate> candidates = paused_candidates(history);
  Rng stream = rng.fork("new configurations");
  std::vector<Candidate> fresh = new_configs(history, gp, target, stream);
  candidates.insert(candidates.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  return candidates;
}

// One candidate with what training it is expected to bring and cost.
struct Prospect {
  std::size_t candidate = 0;
  Epoch until = 0;  // how far the budget lets it go: the last epoch, or less when nothing can finish any more
  double mean = 0.0;
  double sd = 0.0;
  Cost cost = 0.0;         // to `until`
  double log_score = 0.0;  // once ranked
};

class Prospects {
 public:
  Prospects(const History& history,
            const Models& models,
            const ExactGp& gp,
            const std::vector<Candidate>& candidates,
            double fluctuation)
      : history_(history), models_(models), gp_(gp), candidates_(candidates), fluctuation_(fluctuation) {
    for (const Candidate& c : candidates_) {
      paid_.push_back(history.spec().checkpoint == Checkpoint::kept ? c.done : 0);
    }
  }

  // What can still be trained to the last epoch; if nothing can, what can be trained at all.
  std::vector<Prospect> affordable(Cost remaining) const {
    const Epoch max_epoch = history_.spec().epochs.max;
    const std::vector<Epoch> last(candidates_.size(), max_epoch);
    const Vector to_finish = models_.cost.between(stacked(candidates_), paid_, last);
    std::vector<Epoch> until(candidates_.size(), 0);
    bool can_finish = false;
    for (std::size_t i = 0; i < until.size(); ++i) {
      const double share = remaining / to_finish[static_cast<Eigen::Index>(i)];
      if (share >= 1.0) {
        until[i] = max_epoch;
        can_finish = true;
      } else {
        until[i] = paid_[i] + static_cast<Epoch>(std::floor(share * (max_epoch - paid_[i])));
      }
    }
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < until.size(); ++i) {
      if (can_finish ? until[i] == max_epoch : until[i] > candidates_[i].done) chosen.push_back(i);
    }
    return prospects_of(chosen, until);
  }

 private:
  std::vector<Prospect> prospects_of(const std::vector<std::size_t>& chosen, const std::vector<Epoch>& until) const {
    if (chosen.empty()) return {};
    std::vector<Candidate> candidates;
    std::vector<Epoch> epochs;
    std::vector<Epoch> paid;
    for (const std::size_t i : chosen) {
      candidates.push_back(candidates_[i]);
      epochs.push_back(until[i]);
      paid.push_back(paid_[i]);
    }
    const Vector costs = models_.cost.between(stacked(candidates), paid, epochs);
    const Moments moments = outlook(gp_, candidates, epochs, history_.spec().epochs.max, fluctuation_);
    std::vector<Prospect> prospects;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      prospects.push_back({.candidate = chosen[k],
                           .until = epochs[k],
                           .mean = moments.mean[at],
                           .sd = std::sqrt(moments.variance[at]),
                           .cost = costs[at]});
    }
    return prospects;
  }

  const History& history_;
  const Models& models_;
  const ExactGp& gp_;
  const std::vector<Candidate>& candidates_;
  double fluctuation_;  // of values reached by paused trials
  std::vector<Epoch> paid_;
};

// The value that the rest of the budget may be expected to reach.
double target_of(const std::vector<Prospect>& prospects, double best, Cost remaining) {
  if (prospects.empty()) return best;
  Vector means(std::ssize(prospects));
  Vector sds(means.size());
  Cost cost = 0.0;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    means[static_cast<Eigen::Index>(i)] = prospects[i].mean;
    sds[static_cast<Eigen::Index>(i)] = prospects[i].sd;
    cost += prospects[i].cost;
  }
  return reachable_value(means, sds, best, remaining * static_cast<double>(prospects.size()) / cost);
}

// By expected improvement over the target per cost, best first.
void rank(std::vector<Prospect>& prospects, double target) {
  for (Prospect& p : prospects) p.log_score = log_expected_improvement(p.mean, p.sd, target) - std::log(p.cost);
  std::stable_sort(prospects.begin(), prospects.end(), [](const Prospect& a, const Prospect& b) {
    return a.log_score > b.log_score;
  });
}

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

// What a run that may go on to its conservative stop is worth, as the horizon counts.
double log_improvement_to(const Models& models, const Vector& x, int group, Epoch stop, Epoch max_epoch) {
  const MonotoneGp posterior(models.gp, Constraint::on_slopes(models.slopes, x, group));
  return log_constrained_improvement(models.gp, posterior, Rows::of_curve(x, {stop}, max_epoch, group), models.best);
}

// Scores are compared in the scale of the model and told in the unit of the metric.
void tell_in_metric(const Models& models, Reason& why) {
  const double log_unit = score_in_metric(models.scale, models.best, 0.0).log;
  why.score = Score{.log = why.score->log + log_unit, .unit = ScoreUnit::metric};
  if (why.rival) why.rival->log_score += log_unit;
}

double measured_sd(const Models& models, double latent_sd) {
  return std::sqrt(latent_sd * latent_sd + models.gp.parameters().noise);
}

const char* why_nothing_is_planned(HorizonEnd end) {
  return end == HorizonEnd::budget_spent ? "what is left of the budget pays for none of the runs considered"
                                         : "none of the runs considered is expected to gain by further epochs";
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

// What was known of the best prospect, and which one it was preferred to.
Reason reasons_for_rung(const History& history,
                        const Models& models,
                        const ExactGp& gp,
                        const std::vector<Candidate>& candidates,
                        const std::vector<Prospect>& prospects,
                        double target,
                        const BapiOptions& options) {
  const Prospect& best = prospects.front();
  const Candidate& chosen = candidates[best.candidate];
  Reason why{.rule = Rule::improvement_per_cost,
             .price = Price{.until = best.until, .cost = best.cost, .log_sd = models.cost.log_sd(chosen.x)},
             .score = Score{.log = best.log_score, .unit = ScoreUnit::model},
             .candidates = static_cast<int>(prospects.size()),
             .notes = notes_of(models.fit)};
  if (prospects.size() > 1) {
    why.rival = {.trial = candidates[prospects[1].candidate].trial, .log_score = prospects[1].log_score};
  }
  // Without a value so far there is nothing to predict from: the model only knows what to keep away from.
  if (!history.incumbent()) return why;
  // Told to the user is the wider band of the model, which comes true more often.
  const Rows end = Rows::of_curve(chosen.x, {best.until}, history.spec().epochs.max, chosen.group);
  const double model_sd = std::sqrt(gp.predict(end).variance[0]);
  why.forecast = forecast_of(history,
                             models.scale,
                             {.epoch = best.until,
                              .mean = best.mean,
                              .sd = best.sd,
                              .measured_sd = measured_sd(models, model_sd),
                              .best = models.best,
                              .target = target});
  const double epsilon = stop_tolerance(history, models, options);
  why.forecast->flat = stop_of(history, models, chosen.x, chosen.group, chosen.done, epsilon);
  tell_in_metric(models, why);
  return why;
}

// What was known of the run that the horizon puts first, and which one it was preferred to.
Reason reasons_for_run(const History& history,
                       const Models& models,
                       const std::vector<Candidate>& candidates,
                       const Horizon& horizon) {
  const PlannedRun& next = horizon.next();
  Reason why{.rule = Rule::plan,
             .price = Price{.until = next.until, .cost = next.cost, .log_sd = models.cost.log_sd(next.x)},
             .score = Score{.log = next.log_improvement_per_cost, .unit = ScoreUnit::model},
             .plan = PlanOutline{.trials = static_cast<int>(horizon.runs.size()), .left = horizon.budget_left},
             .notes = notes_of(models.fit)};
  for (Note& note : notes_of_constraint(horizon.least_log_probability)) why.notes.push_back(std::move(note));
  if (const PlannedRun* second = runner_up(horizon)) {
    why.rival = {.log_score = second->log_improvement_per_cost};
    if (second->candidate >= 0) why.rival->trial = candidates[static_cast<std::size_t>(second->candidate)].trial;
  }
  if (!history.incumbent()) return why;
  why.forecast = forecast_of(history,
                             models.scale,
                             {.epoch = next.until,
                              .mean = next.mean,
                              .sd = next.sd,
                              .measured_sd = measured_sd(models, next.sd),
                              .best = models.best,
                              .target = models.best});
  why.forecast->shortened = next.shortened;  // the budget pays for no more
  if (!next.shortened) why.forecast->flat = next.until;
  tell_in_metric(models, why);
  return why;
}

}  // namespace

Bapi::Bapi(const PolicySpec& spec) : name_(spec.name), options_(bapi_options(spec)) {}

Decision Bapi::ask(const History& history, Rng& rng) {
  const InitialDesign design = options_.initial_design();
  if (design.unfinished(history)) return design.next(history);
  if (!has_data(history)) return history.open_segments() > 0 ? Decision(Wait{}) : design.next(history);
  Rng stream = rng.fork("models");
  const Models models = fit_models(history, options_.model, stream);
  return options_.loop == BapiLoop::rungs ? next_rung(history, models, rng) : follow_plan(history, models, rng);
}

Decision Bapi::next_rung(const History& history, const Models& models, Rng& rng) const {
  const ExactGp gp = with_running_trials(history, models);
  const Cost remaining = history.budget().remaining();
  const double noise = models.gp.parameters().noise;
  const double fluctuation = options_.reached == Reached::known ? std::min(models.fluctuation, noise) : noise;
  std::vector<Candidate> candidates = worth_considering(history, gp, models.best, rng);
  if (candidates.empty()) return nothing_to_do(history, kPoolExhausted);
  std::vector<Prospect> prospects = Prospects(history, models, gp, candidates, fluctuation).affordable(remaining);
  double target = models.best;
  if (options_.target == BapiTarget::reachable) {
    target = target_of(prospects, models.best, remaining);
    // The first search of the space showed how far the budget may lead; the second looks for what leads there.
    if (target > models.best && history.spec().pool.empty()) {
      candidates = worth_considering(history, gp, target, rng);
      prospects = Prospects(history, models, gp, candidates, fluctuation).affordable(remaining);
    }
  }
  if (prospects.empty()) return nothing_to_do(history, kNothingAffordable);
  rank(prospects, target);

  const Prospect& best = prospects.front();
  const Candidate& chosen = candidates[best.candidate];
  const Epoch first = options_.initial_design().first_rung(history.spec());
  const Epoch rung =
      chosen.done < first
          ? first
          : std::max(chosen.done + 1, static_cast<Epoch>(std::llround(options_.rung_ratio * chosen.done)));
  const Epoch until = std::min(rung, best.until);
  Reason why = reasons_for_rung(history, models, gp, candidates, prospects, target, options_);
  const Cost expected = cost_to(history, models, chosen.x, chosen.done, until);
  return train(chosen, until, expected, std::move(why));
}

Bapi::Look Bapi::look_at(const Trial& trial, const History& history, const Models& models) const {
  const StudySpec& spec = history.spec();
  const Epoch now = trial.curve.last_epoch();
  const Vector x = spec.space.encode(trial.config);
  const int group = static_cast<int>(index(trial.id));
  const TerminationCheck check = check_termination(models.gp,
                                                   models.slopes,
                                                   x,
                                                   group,
                                                   now,
                                                   models.best,
                                                   stop_rule(history, now, stop_tolerance(history, models, options_)),
                                                   {.kappa = options_.kappa});
  const Forecast forecast = forecast_of(history,
                                        models.scale,
                                        {.epoch = check.stop,
                                         .mean = check.mean_at_stop,
                                         .sd = check.sd_at_stop,
                                         .measured_sd = check.sd_at_stop,
                                         .best = check.best,
                                         .target = check.best});
  BlockCheck block{.trial = trial.id,
                   .stop = check.stop,
                   .mean = forecast.mean,
                   .sd = forecast.shown_sd,
                   .sd_now = check.sd_now * models.scale.slope(check.mean_at_stop),
                   .incumbent = forecast.incumbent,
                   .kappa = options_.kappa};
  const Epoch next = next_check(now, check.stop, block_of(spec, options_));
  const Cost cost = next > now ? cost_to(history, models, x, now, next) : 0.0;
  const bool affordable = cost <= history.budget().remaining();
  if (!check.terminate && next > now && affordable) {
    const Cost to_stop = cost_to(history, models, x, now, check.stop);
    const double score = log_improvement_to(models, x, group, check.stop, spec.epochs.max) - std::log(to_stop);
    Reason why{.rule = Rule::to_conservative_stop,
               .forecast = forecast,
               .price = Price{.until = check.stop, .cost = to_stop},
               .score = Score{.log = score},
               .check = block,
               .notes = notes_of(models.fit)};
    for (Note& note : notes_of_constraint(check.log_probability)) why.notes.push_back(std::move(note));
    why.forecast->flat = check.stop;
    tell_in_metric(models, why);
    return {.goes_on = Resume{.trial = trial.id, .until = next, .expected_cost = cost, .why = std::move(why)}};
  }
  block.outcome = check.terminate ? CheckOutcome::ended_early
                  : affordable    ? CheckOutcome::at_stop
                                  : CheckOutcome::unaffordable;
  Look look{.ended = block};
  look.in_words = check.terminate ? fmt::format("trial {} is not expected to become the best", group)
                  : affordable ? fmt::format("trial {} has reached its conservative stop, epoch {}", group, check.stop)
                               : fmt::format("the next epochs of trial {} do not fit the budget", group);
  return look;
}

Decision Bapi::follow_plan(const History& history, const Models& models, Rng& rng) const {
  const StudySpec& spec = history.spec();
  Look ended;  // why the run before was given up; told with the decision that takes its place
  if (const Trial* trial = due_for_a_look(history)) {
    ended = look_at(*trial, history, models);
    if (ended.goes_on) return *std::move(ended.goes_on);
  }

  const std::vector<Candidate> candidates = listed_candidates(history);
  Rng stream = rng.fork("horizon");
  const Horizon horizon = plan_study(history, models, candidates, options_, history.budget().remaining(), stream);
  if (horizon.empty()) {
    const std::string reason = why_nothing_is_planned(horizon.end);
    return nothing_to_do(history, ended.in_words.empty() ? reason : ended.in_words + "; " + reason);
  }

  const PlannedRun& next = horizon.next();
  const Candidate chosen = next.candidate >= 0 ? candidates[static_cast<std::size_t>(next.candidate)]
                                               : new_candidate(history, spec.space.decode(next.x), 0);
  const Epoch until = std::min(next.until, next.from + block_of(spec, options_));
  Reason why = reasons_for_run(history, models, candidates, horizon);
  why.check = ended.ended;
  const Cost cost = cost_to(history, models, next.x, next.from, until);
  return train(chosen, until, cost, std::move(why));
}

}  // namespace bapi
