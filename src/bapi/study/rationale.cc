#include "bapi/study/rationale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace bapi {
namespace {

constexpr std::array kRules{
    Name{Rule::unstated, ""},
    Name{Rule::from_outside, "from outside"},
    Name{Rule::finish_begun, "finish what was begun"},
    Name{Rule::initial_design, "initial design"},
    Name{Rule::uniform_draw, "uniform draw"},
    Name{Rule::improvement_per_cost, "best expected improvement per cost to finish"},
    Name{Rule::plan, "best expected improvement per cost of the horizon"},
    Name{Rule::to_conservative_stop, "on to its conservative stop"},
    Name{Rule::beats_threshold, "likeliest to beat the threshold within the horizon"},
    Name{Rule::improvement_at_next_rung, "largest expected improvement at the next rung"},
    Name{Rule::largest_improvement, "largest expected improvement"},
    Name{Rule::multi_step_improvement, "largest improvement over several steps"},
    Name{Rule::budgeted_improvement, "largest improvement within a budget"},
    Name{Rule::nothing_fits_budget, "nothing fits the budget: any"},
    Name{Rule::drawn_from_batch, "drawn from the best batch"},
    Name{Rule::best_of_batch, "best of the best batch"},
    Name{Rule::improvement_with_future, "largest improvement with its future"},
    Name{Rule::score_per_cost, "largest improvement of the score per cost"},
    Name{Rule::new_in_bracket, "new in bracket"},
    Name{Rule::promoted, "promoted to rung"},
    Name{Rule::not_promoted, "not among the best of its rung"},
    Name{Rule::best_of_rung, "among the best of its rung"},
    Name{Rule::lowest_rung, "new on the lowest rung"},
    Name{Rule::nothing_new, "nothing new is left"},
    Name{Rule::short_trial, "short run"},
    Name{Rule::best_of_short_trials, "best of the short runs"},
};

Rule rule_of(std::string_view text) {
  const auto known = std::find_if(kRules.begin(), kRules.end(), [&](const auto& rule) { return rule.word == text; });
  return known == kRules.end() ? Rule::own_words : known->value;
}

// The numbers of a rationale, each taken once by its name.
class Numbers {
 public:
  explicit Numbers(const Rationale& why) : left_(why.numbers) {}

  bool has(std::string_view name) const { return find(name) != left_.end(); }

  std::optional<double> take(std::string_view name) {
    const auto found = find(name);
    if (found == left_.end()) return std::nullopt;
    const double number = found->second;
    left_.erase(found);
    return number;
  }

  // Left where it is if it is none.
  std::optional<int> take_integer(std::string_view name) {
    const auto found = find(name);
    if (found == left_.end() || !(std::abs(found->second) <= std::numeric_limits<int>::max())) return std::nullopt;
    return static_cast<int>(*take(name));
  }

  const std::vector<std::pair<std::string, double>>& left() const { return left_; }

 private:
  using List = std::vector<std::pair<std::string, double>>;
  List::const_iterator find(std::string_view name) const {
    return std::find_if(left_.begin(), left_.end(), [&](const auto& number) { return number.first == name; });
  }

  List left_;
};

bool is_halving(Rule rule) {
  switch (rule) {
    case Rule::new_in_bracket:
    case Rule::promoted:
    case Rule::not_promoted:
    case Rule::best_of_rung:
    case Rule::nothing_new:
    case Rule::best_of_short_trials:
      return true;
    default:
      return false;
  }
}

RungStanding take_standing(Numbers& numbers) {
  return {.bracket = numbers.take_integer("bracket"),
          .rung = numbers.take_integer("rung").value_or(0),
          .places = numbers.take_integer("configs"),
          .rank = numbers.take_integer("rank"),
          .reached = numbers.take_integer("reached"),
          .promoted = numbers.take_integer("promoted"),
          .epoch = numbers.take_integer("at_epoch"),
          .value = numbers.take("value")};
}

// The deviation that 0.1 stored was the one told to people.
std::optional<Forecast> take_forecast(Numbers& numbers, std::optional<Epoch> at, std::optional<Epoch> stop) {
  if (!at || !numbers.has("predicted") || !numbers.has("sd") || !numbers.has("incumbent")) return std::nullopt;
  Forecast forecast{.epoch = *at,
                    .mean = *numbers.take("predicted"),
                    .shown_sd = *numbers.take("sd"),
                    .incumbent = *numbers.take("incumbent")};
  const std::optional<double> target = numbers.take("target");
  const std::optional<double> threshold = numbers.take("threshold");
  forecast.target = target ? *target : threshold.value_or(forecast.incumbent);
  forecast.gap = numbers.take("gap").value_or(0.0);
  forecast.shortened = numbers.take("shortened").has_value();
  if (!forecast.shortened) forecast.flat = stop;
  return forecast;
}

std::optional<Price> take_price(Numbers& numbers, std::optional<Epoch> until) {
  for (const char* name : {"cost_to_finish", "cost_to_stop", "cost"}) {
    if (const std::optional<double> cost = numbers.take(name)) {
      return Price{.until = until.value_or(0), .cost = *cost, .log_sd = numbers.take("cost_log_sd")};
    }
  }
  return std::nullopt;
}

// From the scale of the model, in which 0.1 stored scores, to the unit of the metric; 0 if that is not known.
double take_log_unit(Numbers& numbers, double log_score) {
  const double in_metric = numbers.take("ei_per_cost").value_or(0.0);
  return in_metric > 0.0 && std::isfinite(log_score) ? std::log(in_metric) - log_score : 0.0;
}

void take_score(Numbers& numbers, Reason& reason) {
  for (const char* name : {"log_ei_per_cost", "log_ei", "log_value", "log_utility", "log_score"}) {
    const std::optional<double> log = numbers.take(name);
    if (!log) continue;
    const bool in_metric = numbers.has("ei_per_cost");
    const double unit = take_log_unit(numbers, *log);
    reason.score = {.log = *log + unit,
                    .unit = in_metric                              ? ScoreUnit::metric
                            : reason.rule == Rule::beats_threshold ? ScoreUnit::probability
                                                                   : ScoreUnit::model};
    if (const std::optional<double> other = numbers.take("its_log_ei_per_cost")) {
      const int trial = numbers.take_integer("preferred_to").value_or(-1);
      reason.rival = {.log_score = *other + unit};
      if (trial >= 0) reason.rival->trial = TrialId{trial};
    }
    return;
  }
}

std::optional<BlockCheck> take_ended(Numbers& numbers) {
  const std::optional<int> trial = numbers.take_integer("ended_trial");
  if (!trial) return std::nullopt;
  const bool early = numbers.take("ended_early") == 1.0;
  const bool unaffordable = numbers.take("ended_unaffordable") == 1.0;
  return BlockCheck{.trial = TrialId{*trial},
                    .outcome = early          ? CheckOutcome::ended_early
                               : unaffordable ? CheckOutcome::unaffordable
                                              : CheckOutcome::at_stop,
                    .stop = numbers.take_integer("ended_stop").value_or(0),
                    .mean = numbers.take("ended_predicted").value_or(NAN),
                    .sd = numbers.take("ended_sd").value_or(NAN),
                    .sd_now = numbers.take("ended_sd_now").value_or(NAN),
                    .incumbent = numbers.take("ended_incumbent").value_or(NAN),
                    .kappa = numbers.take("ended_kappa").value_or(NAN)};
}

void take_notes(Numbers& numbers, Reason& reason) {
  if (reason.rule == Rule::beats_threshold) {
    if (const auto ahead = numbers.take("horizon")) reason.notes.push_back({NoteKind::epochs_ahead, {}, *ahead});
  }
  constexpr std::array kNotes{Name{NoteKind::steps_ahead, "steps"},
                              Name{NoteKind::tree_nodes, "nodes"},
                              Name{NoteKind::batch_size, "batch"},
                              Name{NoteKind::log_batch_score, "log_batch_ei"},
                              Name{NoteKind::steepest_slope, "steepest_slope"},
                              Name{NoteKind::scaled_cost, "scaled_cost"},
                              Name{NoteKind::best_score, "best_score"},
                              Name{NoteKind::model_rows, "rows"}};
  for (const auto& [kind, name] : kNotes) {
    if (const auto value = numbers.take(name)) reason.notes.push_back({kind, {}, *value});
  }
  for (const auto& [name, value] : numbers.left()) reason.notes.push_back({NoteKind::other, name, value});
}

}  // namespace

Reason reason_of(const Rationale& why) {
  Numbers numbers(why);
  Reason reason{.rule = rule_of(why.rule)};
  if (reason.rule == Rule::own_words) reason.own_words = why.rule;
  reason.shortened_from = numbers.take_integer("shortened_from");
  reason.check = take_ended(numbers);
  if (reason.rule == Rule::initial_design) numbers.take("run");
  for (const char* name : {"planned_budget", "smallest_cost"}) numbers.take(name);
  if (is_halving(reason.rule)) {
    reason.standing = take_standing(numbers);
  } else {
    const bool known = reason.rule != Rule::own_words || numbers.has("predicted");
    const std::optional<Epoch> end = known ? numbers.take_integer("at_epoch") : std::nullopt;
    const std::optional<Epoch> stop = known ? numbers.take_integer("stop") : std::nullopt;
    const std::optional<Epoch> at = end ? end : stop;
    reason.forecast = take_forecast(numbers, at, stop);
    reason.price = take_price(numbers, at);
  }
  take_score(numbers, reason);
  reason.candidates = numbers.take_integer("candidates").value_or(0);
  if (reason.rule == Rule::plan) {
    reason.plan = {.trials = numbers.take_integer("horizon").value_or(0),
                   .left = numbers.take("budget_after_horizon").value_or(0.0)};
  }
  if (reason.rule == Rule::to_conservative_stop && reason.forecast) {
    reason.check = {.outcome = CheckOutcome::continues,
                    .stop = reason.forecast->epoch,
                    .mean = reason.forecast->mean,
                    .sd = reason.forecast->shown_sd,
                    .sd_now = numbers.take("sd_now").value_or(NAN),
                    .incumbent = reason.forecast->incumbent,
                    .kappa = numbers.take("kappa").value_or(NAN)};
  }
  take_notes(numbers, reason);
  return reason;
}

TrialAssignment assignment_of(const Rationale& why) {
  Numbers numbers(why);
  TrialAssignment assignment;
  if (rule_of(why.rule) == Rule::initial_design) assignment.initial_run = numbers.take_integer("run").value_or(0);
  const std::optional<int> bracket = numbers.take_integer("bracket");
  const std::optional<int> rung = numbers.take_integer("rung");
  if (bracket && rung && *bracket >= 0 && *rung >= 0) assignment.place = {.bracket = *bracket, .rung = *rung};
  const std::optional<double> planned = numbers.take("planned_budget");
  const std::optional<double> smallest = numbers.take("smallest_cost");
  if (planned && smallest) assignment.schedule = {.planned = *planned, .smallest = *smallest};
  return assignment;
}

}  // namespace bapi
