#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/base/rare.h"
#include "bapi/base/units.h"

namespace bapi {

// Why a decision was made: the rule that fired and what it looked at. For people and for the calibration of forecasts;
// no policy reads it back (see TrialAssignment). Values are in the metric's unit and in the user's direction.

// Rules of bapi's own policies. Their words are in the log of every study: they are never renamed or reused.
enum class Rule {
  unstated,
  own_words,  // of a policy outside bapi: see Reason::own_words
  from_outside,
  finish_begun,
  initial_design,
  uniform_draw,
  // bapi
  improvement_per_cost,
  plan,
  to_conservative_stop,
  // freeze-thaw, dyhpo
  beats_threshold,
  improvement_at_next_rung,
  // policies that train every trial to the end
  largest_improvement,
  multi_step_improvement,
  budgeted_improvement,
  nothing_fits_budget,
  drawn_from_batch,
  best_of_batch,
  improvement_with_future,
  score_per_cost,
  // successive halving
  new_in_bracket,
  promoted,
  not_promoted,
  best_of_rung,
  lowest_rung,
  nothing_new,
  short_trial,
  best_of_short_trials,
  // of every policy
  enqueued,
  repeat,
  asked_for_by_user,  // to be stopped
};

template <>
inline constexpr auto names<Rule> = NameTable{
    Name{Rule::unstated, ""},
    Name{Rule::own_words, "own-words"},
    Name{Rule::from_outside, "from-outside"},
    Name{Rule::finish_begun, "finish-begun"},
    Name{Rule::initial_design, "initial-design"},
    Name{Rule::uniform_draw, "uniform-draw"},
    Name{Rule::improvement_per_cost, "improvement-per-cost"},
    Name{Rule::plan, "plan"},
    Name{Rule::to_conservative_stop, "to-conservative-stop"},
    Name{Rule::beats_threshold, "beats-threshold"},
    Name{Rule::improvement_at_next_rung, "improvement-at-next-rung"},
    Name{Rule::largest_improvement, "largest-improvement"},
    Name{Rule::multi_step_improvement, "multi-step-improvement"},
    Name{Rule::budgeted_improvement, "budgeted-improvement"},
    Name{Rule::nothing_fits_budget, "nothing-fits-budget"},
    Name{Rule::drawn_from_batch, "drawn-from-batch"},
    Name{Rule::best_of_batch, "best-of-batch"},
    Name{Rule::improvement_with_future, "improvement-with-future"},
    Name{Rule::score_per_cost, "score-per-cost"},
    Name{Rule::new_in_bracket, "new-in-bracket"},
    Name{Rule::promoted, "promoted"},
    Name{Rule::not_promoted, "not-promoted"},
    Name{Rule::best_of_rung, "best-of-rung"},
    Name{Rule::lowest_rung, "lowest-rung"},
    Name{Rule::nothing_new, "nothing-new"},
    Name{Rule::short_trial, "short-trial"},
    Name{Rule::best_of_short_trials, "best-of-short-trials"},
    Name{Rule::enqueued, "enqueued"},
    Name{Rule::repeat, "repeat"},
    Name{Rule::asked_for_by_user, "asked-for-by-user"},
};

// What a score was computed from, on the scale of the model, where forecasts are normal and values are maximised.
struct ScoreBasis {
  double mean = 0.0;
  double sd = 0.0;
  double target = 0.0;    // from where improvement counts
  double log_unit = 0.0;  // of the metric's unit over that of the scale, at the best value so far
  bool operator==(const ScoreBasis&) const = default;
};

// Shares of the law of a forecast of which the log keeps the quantiles: the ends of the central 95, 80 and 50 % bands,
// and the median.
inline constexpr std::array<double, 7> kForecastShares = {0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975};

// What the trial was expected to reach.
struct Forecast {
  Epoch epoch = 0;
  double mean = 0.0;
  std::optional<double> sd = {};   // see `gap`
  double shown_sd = 0.0;           // for people: that of a normal with the 80 % band of the forecast
  double incumbent = 0.0;          // the best value so far
  double target = 0.0;             // from where improvement counts; the incumbent unless the policy aims higher
  double gap = 0.0;                // see below
  std::optional<Epoch> flat = {};  // where the curve will have flattened out
  bool shortened = false;          // `epoch` is as far as the budget goes

  // Not in logs of earlier versions, of which forecasts were normal in a warped scale, w(y) = -log(1 + (incumbent - y)
  // / gap) for a metric to be maximised, straight above the incumbent; `gap` = 0 leaves values as they are. Deviations
  // were those of the warped scale times the slope of its inverse at `mean`; `sd` is the one of the score.
  std::vector<double> quantiles = {};  // at kForecastShares, ascending
  std::optional<double> reached = {};  // by the trial so far, where the value cannot fall below it
  double stays = 0.0;                  // the chance that it gets no better than that
  std::optional<ScoreBasis> basis = {};
  bool operator==(const Forecast&) const = default;

  // The ends of the central 80 % band; only with quantiles.
  double low() const { return quantiles.at(1); }
  double high() const { return quantiles.at(5); }
};

// What it was expected to cost to train the trial to `until`.
struct Price {
  Epoch until = 0;
  Cost cost = 0.0;
  std::optional<double> log_sd = {};  // standard deviation of the logarithm of the cost
  bool operator==(const Price&) const = default;
};

enum class ScoreUnit {
  metric,       // an improvement in the metric's unit, as it is at the incumbent; per cost where the rule divides by it
  model,        // the same in the scale of the model, which only compares
  probability,  // a chance
};

template <>
inline constexpr auto names<ScoreUnit> = NameTable{
    Name{ScoreUnit::metric, "metric"}, Name{ScoreUnit::model, "model"}, Name{ScoreUnit::probability, "probability"}};

// What the rule maximised.
struct Score {
  double log = 0.0;
  ScoreUnit unit = ScoreUnit::model;
  bool operator==(const Score&) const = default;
};

// The second best.
struct RunnerUp {
  std::optional<TrialId> trial = {};  // none: a new configuration
  double log_score = 0.0;             // in the unit of the score
  bool operator==(const RunnerUp&) const = default;
};

// The plan from which the decision took its first trial.
struct PlanOutline {
  int trials = 0;
  Cost left = 0.0;  // of the budget, after all of them
  bool operator==(const PlanOutline&) const = default;
};

// Where a trial stands among those of its rung.
struct RungStanding {
  std::optional<int> bracket = {};
  int rung = 0;
  std::optional<int> places = {};    // trials that the rung has room for
  std::optional<int> rank = {};      // 0: the best
  std::optional<int> reached = {};   // trials that got to the rung
  std::optional<int> promoted = {};  // trials of the rung that continue
  std::optional<Epoch> epoch = {};   // of the rung
  std::optional<double> value = {};  // of the trial there
  bool operator==(const RungStanding&) const = default;
};

enum class CheckOutcome {
  continues,
  ended_early,   // not expected to become the best, and the forecast is sure enough
  at_stop,       // its conservative stop is reached
  unaffordable,  // the budget does not pay for its next block of epochs
};

template <>
inline constexpr auto names<CheckOutcome> = NameTable{Name{CheckOutcome::continues, "continues"},
                                                      Name{CheckOutcome::ended_early, "ended-early"},
                                                      Name{CheckOutcome::at_stop, "at-stop"},
                                                      Name{CheckOutcome::unaffordable, "unaffordable"}};

// The look at a trial whose block of epochs had ended, before this decision: it may end when `mean` is not above the
// incumbent and `sd` at most `kappa` times `sd_now`.
struct BlockCheck {
  TrialId trial{};
  CheckOutcome outcome = CheckOutcome::continues;
  Epoch stop = 0;  // its conservative stop
  double mean = 0.0;
  double sd = 0.0;      // of the value at the stop
  double sd_now = 0.0;  // of today's value
  double incumbent = 0.0;
  double kappa = 0.0;
  bool operator==(const BlockCheck&) const = default;
};

enum class NoteKind {
  other,  // see Note::name
  // what a policy looked at
  epochs_ahead,
  steps_ahead,
  tree_nodes,
  batch_size,
  log_batch_score,
  steepest_slope,
  scaled_cost,
  best_score,
  model_rows,
  // what is worth knowing of the numerics
  fit_not_converged,
  jitter,
  constraint_contradicted,
};

template <>
inline constexpr auto names<NoteKind> = NameTable{Name{NoteKind::other, "other"},
                                                  Name{NoteKind::epochs_ahead, "epochs-ahead"},
                                                  Name{NoteKind::steps_ahead, "steps-ahead"},
                                                  Name{NoteKind::tree_nodes, "tree-nodes"},
                                                  Name{NoteKind::batch_size, "batch-size"},
                                                  Name{NoteKind::log_batch_score, "log-batch-score"},
                                                  Name{NoteKind::steepest_slope, "steepest-slope"},
                                                  Name{NoteKind::scaled_cost, "scaled-cost"},
                                                  Name{NoteKind::best_score, "best-score"},
                                                  Name{NoteKind::model_rows, "model-rows"},
                                                  Name{NoteKind::fit_not_converged, "fit-not-converged"},
                                                  Name{NoteKind::jitter, "jitter"},
                                                  Name{NoteKind::constraint_contradicted, "constraint-contradicted"}};

struct Note {
  NoteKind kind = NoteKind::other;
  std::string name = {};  // of NoteKind::other, in the words of the policy
  double value = 0.0;
  bool operator==(const Note&) const = default;
};

// A configuration that somebody has asked for, and what the policy had to say.
struct WishOutline {
  int number = 0;                           // among all that were asked for, from 0
  std::string by = {};                      // who asked
  Rule instead_of = Rule::unstated;         // why the policy began a new trial just then
  std::vector<std::string> left_open = {};  // parameters whose values are the policy's
  bool operator==(const WishOutline&) const = default;
};

// A finalist that is trained again with another seed.
struct RepeatOutline {
  TrialId of{};    // its first training
  int number = 2;  // this training
  int total = 2;   // trainings of every finalist
  bool operator==(const RepeatOutline&) const = default;
};

// Small, since a log has one event for every epoch and all of them are kept in memory.
struct Reason {
  Rule rule = Rule::unstated;
  std::string own_words = {};  // of Rule::own_words
  Rare<Forecast> forecast = {};
  Rare<Price> price = {};
  Rare<Score> score = {};
  Rare<RunnerUp> rival = {};
  int candidates = 0;  // that were compared; 0 if they were not counted
  Rare<PlanOutline> plan = {};
  Rare<RungStanding> standing = {};
  Rare<BlockCheck> check = {};
  Rare<WishOutline> wish = {};
  Rare<RepeatOutline> repeat = {};
  std::optional<Epoch> shortened_from = {};  // the policy's wish, where the budget pays for fewer epochs
  std::vector<Note> notes = {};
  bool operator==(const Reason&) const = default;

  std::optional<double> note(NoteKind kind) const;  // the first of that kind
};

// For policies outside bapi.
Reason in_own_words(std::string words);

}  // namespace bapi
