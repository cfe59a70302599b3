#include "bapi/policy/bapi.h"

#include <algorithm>
#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/planner/conservative_stop.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/new_configs.h"

namespace bapi {
namespace {

Epoch share_of(double share, Epoch max_epoch) {
  return std::clamp(static_cast<Epoch>(std::ceil(share * max_epoch - 1e-9)), 1, max_epoch);
}

Decision nothing_to_do(const History& history, const char* reason) {
  if (history.open_segments() > 0) return Wait{};
  return Finish{reason};
}

constexpr const char* kNothingAffordable = "what is left of the budget pays for no further epoch";

// Running trials count as if they ended where the model expects them to: the search looks elsewhere meanwhile.
ExactGp with_running_trials(const History& history, const Models& models) {
  ExactGp gp = models.gp;
  const Epoch max_epoch = history.spec().epochs.max;
  for (const Trial& trial : history.trials()) {
    if (!trial.segment_open) continue;
    const Rows row = Rows::of_curve(
        history.spec().space.encode(trial.config), {max_epoch}, max_epoch, static_cast<int>(index(trial.id)));
    gp.append(row, gp.predict(row).mean);
  }
  return gp;
}

// One candidate with what training it is expected to bring and cost.
struct Prospect {
  std::size_t candidate = 0;
  Epoch until = 0;  // how far the budget lets it go: the last epoch, or less when nothing can finish any more
  double mean = 0.0;
  double sd = 0.0;
  Cost cost = 0.0;  // to `until`
  double log_score = 0.0;
};

class Prospects {
 public:
  Prospects(const History& history, const Models& models, const ExactGp& gp, const std::vector<Candidate>& candidates)
      : history_(history), models_(models), gp_(gp), candidates_(candidates), x_(stacked(candidates)) {
    for (const Candidate& c : candidates_) {
      paid_.push_back(history.spec().checkpoint == Checkpoint::kept ? c.done : 0);
      groups_.push_back(c.group);
    }
  }

  // What can still be trained to the last epoch; if nothing can, what can be trained at all. Best first.
  std::vector<Prospect> affordable(Cost remaining) const {
    const Epoch max_epoch = history_.spec().epochs.max;
    const std::vector<Epoch> last(candidates_.size(), max_epoch);
    const Vector to_finish = models_.cost.between(x_, paid_, last);
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
    return scored(chosen, until);
  }

 private:
  std::vector<Prospect> scored(const std::vector<std::size_t>& chosen, const std::vector<Epoch>& until) const {
    if (chosen.empty()) return {};
    std::vector<Epoch> epochs;
    std::vector<Epoch> paid;
    std::vector<int> groups;
    std::vector<Eigen::Index> rows;
    for (const std::size_t i : chosen) {
      epochs.push_back(until[i]);
      paid.push_back(paid_[i]);
      groups.push_back(groups_[i]);
      rows.push_back(static_cast<Eigen::Index>(i));
    }
    const Matrix x = x_(rows, Eigen::all);
    const Vector costs = models_.cost.between(x, paid, epochs);
    const Moments moments = gp_.predict(Rows::at_epochs(x, epochs, history_.spec().epochs.max, groups));
    std::vector<Prospect> prospects;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      const double sd = std::sqrt(moments.variance[at]);
      prospects.push_back(
          {.candidate = chosen[k],
           .until = epochs[k],
           .mean = moments.mean[at],
           .sd = sd,
           .cost = costs[at],
           .log_score = log_expected_improvement(moments.mean[at], sd, models_.best) - std::log(costs[at])});
    }
    std::stable_sort(prospects.begin(), prospects.end(), [](const Prospect& a, const Prospect& b) {
      return a.log_score > b.log_score;
    });
    return prospects;
  }

  const History& history_;
  const Models& models_;
  const ExactGp& gp_;
  const std::vector<Candidate>& candidates_;
  Matrix x_;
  std::vector<Epoch> paid_;
  std::vector<int> groups_;
};

// Where the forecast of a configuration flattens out.
Epoch stop_of(const History& history, const Models& models, const Candidate& candidate, double epsilon) {
  const MonotoneGp posterior(models.gp, Constraint::on_slopes(models.slopes, candidate.x, candidate.group));
  const StopRule rule{.epsilon = epsilon,
                      .min_epoch = std::max(history.spec().epochs.min, candidate.done),
                      .max_epoch = history.spec().epochs.max};
  return conservative_stop(posterior, candidate.x, candidate.group, rule);
}

}  // namespace

Bapi::Bapi(const PolicySpec& spec) : name_(spec.name), options_(bapi_options(spec)) {}

bool Bapi::exploring(const History& history) const {
  const int runs = options_.initial_runs > 0 ? options_.initial_runs : history.spec().space.unit_dim() + 1;
  const Budget budget = history.budget();
  const bool affordable = budget.spent() + budget.committed() < options_.initial_share * budget.total();
  return (std::ssize(history.trials()) < runs && affordable) || history.trials().empty();
}

Decision Bapi::explore(const History& history) const {
  const std::optional<Config> config = fresh_config(history);
  if (!config) return nothing_to_do(history, kPoolExhausted);
  const Epoch max_epoch = history.spec().epochs.max;
  const bool full = std::ssize(history.trials()) < options_.initial_full_runs;
  return Start{.config = *config,
               .until = full ? max_epoch : std::max(history.spec().epochs.min, share_of(options_.initial_epochs, max_epoch)),
               .expected_cost = 0.0,
               .why = {.rule = "initial design", .numbers = {{"run", static_cast<double>(history.trials().size())}}}};
}

Decision Bapi::ask(const History& history, Rng& rng) {
  if (exploring(history)) return explore(history);
  if (!has_data(history)) return history.open_segments() > 0 ? Decision(Wait{}) : explore(history);
  Rng stream = rng.fork("models");
  const Models models = fit_models(history, options_.model, stream);
  return next_rung(history, models, rng);
}

Decision Bapi::next_rung(const History& history, const Models& models, Rng& rng) const {
  const ExactGp gp = with_running_trials(history, models);
  std::vector<Candidate> candidates = paused_candidates(history);
  Rng stream = rng.fork("new configurations");
  std::vector<Candidate> fresh = new_configs(history, gp, models.best, {}, stream);
  candidates.insert(candidates.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  if (candidates.empty()) return nothing_to_do(history, kPoolExhausted);

  const std::vector<Prospect> prospects =
      Prospects(history, models, gp, candidates).affordable(history.budget().remaining());
  if (prospects.empty()) return nothing_to_do(history, kNothingAffordable);

  const Prospect& best = prospects.front();
  const Candidate& chosen = candidates[best.candidate];
  const Epoch max_epoch = history.spec().epochs.max;
  const Epoch first_rung = std::max(history.spec().epochs.min, share_of(options_.initial_epochs, max_epoch));
  const Epoch rung = chosen.done < first_rung
                         ? first_rung
                         : std::max(chosen.done + 1, static_cast<Epoch>(std::llround(options_.rung_ratio * chosen.done)));
  const Epoch until = std::min(rung, best.until);
  const Epoch paid = history.spec().checkpoint == Checkpoint::kept ? chosen.done : 0;
  const double epsilon = options_.epsilon.value_or(0.01) * models.range;
  Rationale why{.rule = "best expected improvement per cost to finish",
                .numbers = {{"predicted", models.to_user(history, best.mean)},
                            {"sd", best.sd * models.scale.scale},
                            {"at_epoch", best.until},
                            {"stop", stop_of(history, models, chosen, epsilon)},
                            {"cost_to_finish", best.cost},
                            {"log_ei_per_cost", best.log_score},
                            {"incumbent", models.to_user(history, models.best)},
                            {"candidates", static_cast<double>(prospects.size())}}};
  if (prospects.size() > 1) {
    const Candidate& second = candidates[prospects[1].candidate];
    why.numbers.emplace_back("preferred_to", second.trial ? static_cast<double>(index(*second.trial)) : -1.0);
    why.numbers.emplace_back("its_log_ei_per_cost", prospects[1].log_score);
  }
  const Cost expected = models.cost.between(chosen.x, paid, until);
  if (chosen.trial) {
    return Resume{.trial = *chosen.trial, .until = until, .expected_cost = expected, .why = std::move(why)};
  }
  return Start{.config = chosen.config, .until = until, .expected_cost = expected, .why = std::move(why)};
}

}  // namespace bapi
