#include "bapi/policy/bapi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/target.h"
#include "bapi/policy/candidate_moments.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/model_decision.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/pending.h"
#include "bapi/policy/race.h"
#include "bapi/policy/rungs.h"

namespace bapi {
namespace {

// One candidate with what training it is expected to bring and cost.
struct Prospect {
  std::size_t candidate = 0;
  Epoch until = 0;  // how far the budget lets it go: the last epoch, or less when nothing can finish any more
  double mean = 0.0;
  double sd = 0.0;           // that scores count with: of the course
  double forecast_sd = 0.0;  // of what is forecast
  Cost cost = 0.0;           // to `until`
  double log_success = 0.0;  // of the probability that it does not fail
  double log_score = 0.0;    // once ranked
};

class Prospects {
 public:
  Prospects(const Evidence& evidence,
            const Models& models,
            const CurveSurrogate& curves,
            const std::vector<Candidate>& candidates,
            double fluctuation)
      : evidence_(evidence), models_(models), curves_(curves), candidates_(candidates), fluctuation_(fluctuation) {
    for (const Candidate& c : candidates_) paid_.push_back(evidence.spec().begins_after(c.done));
  }

  // What can still be trained to the last epoch; if nothing can, what can be trained at all.
  std::vector<Prospect> affordable(Cost remaining) const {
    const Epoch max_epoch = evidence_.epochs().max;
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
    const Expectations expected = candidate_moments(models_, curves_, candidates, epochs, fluctuation_);
    const Vector success = log_success(evidence_, candidates);
    std::vector<Prospect> prospects;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      prospects.push_back({.candidate = chosen[k],
                           .until = epochs[k],
                           .mean = expected.mean[at],
                           .sd = expected.latent_sd[at],
                           .forecast_sd = expected.sd[at],
                           .cost = costs[at],
                           .log_success = success[at]});
    }
    return prospects;
  }

  const Evidence& evidence_;
  const Models& models_;
  const CurveSurrogate& curves_;
  const std::vector<Candidate>& candidates_;
  double fluctuation_;  // of values reached by paused trials
  std::vector<Epoch> paid_;
};

// The value that the rest of the budget may be expected to reach.
double target_of(const std::vector<Prospect>& prospects, double best, Cost remaining) {
  if (prospects.empty()) return best;
  Vector means(std::ssize(prospects));
  Vector sds(means.size());
  Vector success(means.size());
  Cost cost = 0.0;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    means[static_cast<Eigen::Index>(i)] = prospects[i].mean;
    sds[static_cast<Eigen::Index>(i)] = prospects[i].sd;
    success[static_cast<Eigen::Index>(i)] = std::exp(prospects[i].log_success);
    cost += prospects[i].cost;
  }
  return reachable_value(means, sds, success, best, remaining * static_cast<double>(prospects.size()) / cost);
}

// By expected improvement over the target per cost, times the probability of success; best first.
void rank(std::vector<Prospect>& prospects, double target) {
  for (Prospect& p : prospects) {
    p.log_score = log_expected_improvement(p.mean, p.sd, target) - std::log(p.cost) + p.log_success;
  }
  std::stable_sort(prospects.begin(), prospects.end(), [](const Prospect& a, const Prospect& b) {
    return a.log_score > b.log_score;
  });
}

// The logarithm of the largest improvement on `best` that is expected of any, times the probability of success.
double largest_hope(const std::vector<Prospect>& prospects, double best) {
  double most = -std::numeric_limits<double>::infinity();
  for (const Prospect& p : prospects) {
    most = std::max(most, log_expected_improvement(p.mean, p.sd, best) + p.log_success);
  }
  return most;
}

// Below this the model says that the study is over: an improvement of a thousandth of a deviation of the values seen.
// As long as there is budget it is likelier that the model is wrong.
constexpr double kHopeless = -7.0;

Note note_of_hope(double hope) {
  return {.kind = NoteKind::other, .name = "log of the largest expected improvement", .value = hope};
}

// The deviations of forecasts, which say how far the model has been off on other studies, in place of those of the
// model, which compares courses well but is sure of itself.
void doubt_the_model(std::vector<Prospect>& prospects) {
  for (Prospect& p : prospects) p.sd = p.forecast_sd;
}

constexpr int kRaceEta = 3;

// Epochs of a first look without the model: as few as the study allows, or as many as it takes to see anything.
Epoch shortest_look(const InitialDesign& design, const History& history) {
  const Epoch telling = design.first_telling(history);
  return telling > design.first_rung(history.spec()) ? telling : history.spec().epochs.min;
}

// What the race trains next: what a model rules out can only be found by looking. Nothing if the rest of the budget
// would not bring it to its last epoch.
std::optional<Decision> raced(const Planning& planning, Epoch look, double hope) {
  const Evidence& evidence = planning.evidence();
  const History& history = evidence.history();
  const Epoch last = history.spec().epochs.max;
  Decision decision = race(history, race_rungs(look, last, kRaceEta), kRaceEta);
  const Note note = note_of_hope(hope);
  const auto complete = [&](auto& next, const CurveAt& at) {
    next.expected_cost = planning.cost_to(at, next.until);
    next.why.notes.push_back(note);
    return planning.cost_to(at, last) <= history.budget().remaining();
  };
  bool can_finish = false;
  if (auto* start = std::get_if<Start>(&decision)) {
    can_finish = complete(*start, new_candidate(history, start->config, 0).at());
  } else if (auto* resume = std::get_if<Resume>(&decision)) {
    can_finish = complete(*resume, evidence.at(history.trial(resume->trial)));
  }
  if (!can_finish) return std::nullopt;
  return decision;
}

// What was known of the best prospect, and which one it was preferred to.
Reason reasons_for_rung(const Planning& planning,
                        const CurveSurrogate& curves,
                        const std::vector<Candidate>& candidates,
                        const std::vector<Prospect>& prospects,
                        double target,
                        double fluctuation) {
  const History& history = planning.evidence().history();
  const Models& models = planning.models();
  const Prospect& best = prospects.front();
  const Candidate& chosen = candidates[best.candidate];
  Reason why{
      .rule = Rule::improvement_per_cost,
      .price = Price{.until = best.until, .cost = best.cost, .log_sd = models.cost.log_sd(chosen.x, chosen.done)},
      .score = Score{.log = best.log_score, .unit = ScoreUnit::model},
      .candidates = static_cast<int>(prospects.size()),
      .notes = notes_of(models.surrogate->fit_summary())};
  if (prospects.size() > 1) {
    why.rival = {.trial = candidates[prospects[1].candidate].trial, .log_score = prospects[1].log_score};
  }
  for (Note& note : notes_of_failures(planning.evidence(), chosen)) why.notes.push_back(std::move(note));
  why.forecast = forecast_of(history,
                             models.scale,
                             prognosis_of(models, curves, chosen.at(), {best.until}, fluctuation),
                             0,
                             {.mean = best.mean,
                              .sd = best.sd,
                              .target = target,
                              .log_unit = score_in_metric(models.scale, models.best, 0.0).log},
                             models.best);
  why.forecast->flat = planning.stop_of(chosen.at());
  models.tell_in_metric(why);
  return why;
}

}  // namespace

Bapi::Bapi(std::string name, BapiOptions options) : name_(std::move(name)), options_(std::move(options)) {}

Decision Bapi::ask(const History& history, Rng& rng) {
  return decide_with_models(
      history, options_.design, options_.model, rng, [&](const Evidence& evidence, const Models& models) {
        return train_to_next_rung(Planning(evidence, models, options_.plan), rng);
      });
}

Decision Bapi::train_to_next_rung(const Planning& planning, Rng& rng) const {
  const Evidence& evidence = planning.evidence();
  const History& history = evidence.history();
  const Models& models = planning.models();
  const CurveEpochs epochs = evidence.epochs();
  const std::unique_ptr<CurveSurrogate> curves =
      with_running(models, pending_at_last_epoch(evidence.running(), epochs.max));
  const Cost remaining = history.budget().remaining();
  const double fluctuation = models.reached_variance;
  std::vector<Candidate> candidates = paused_and_new(evidence, *curves, models.best, rng);
  if (candidates.empty()) return nothing_to_do(history, kPoolExhausted);
  std::vector<Prospect> prospects = Prospects(evidence, models, *curves, candidates, fluctuation).affordable(remaining);
  double target = models.best;
  if (options_.target == BapiTarget::reachable) {
    target = target_of(prospects, models.best, remaining);
    // The first search of the space showed how far the budget may lead; the second looks for what leads there.
    if (target > models.best && history.spec().pool.empty()) {
      candidates = paused_and_new(evidence, *curves, target, rng);
      prospects = Prospects(evidence, models, *curves, candidates, fluctuation).affordable(remaining);
    }
  }
  if (prospects.empty()) return nothing_to_do(history, kNoEpochPayable);
  const double hope = largest_hope(prospects, models.best);
  if (hope < kHopeless && options_.race) {
    const Epoch look = shortest_look(options_.design, history);
    if (std::optional<Decision> decision = raced(planning, look, hope)) return *std::move(decision);
  }
  const bool doubted = hope < kHopeless && options_.doubt;
  if (doubted) {
    doubt_the_model(prospects);
    if (options_.target == BapiTarget::reachable) target = target_of(prospects, models.best, remaining);
  }
  rank(prospects, target);

  const Prospect& best = prospects.front();
  const Candidate& chosen = candidates[best.candidate];
  const Epoch first = options_.design.first_telling(history);
  const Epoch until = std::min(next_rung(chosen.done, first, options_.rung_ratio, epochs.max), best.until);
  Reason why = reasons_for_rung(planning, *curves, candidates, prospects, target, fluctuation);
  if (doubted) why.notes.push_back(note_of_hope(hope));
  return train(chosen, until, planning.cost_to(chosen.at(), until), std::move(why));
}

}  // namespace bapi
