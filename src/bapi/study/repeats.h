#pragma once

#include <optional>
#include <vector>

#include "bapi/base/units.h"
#include "bapi/study/spec.h"
#include "bapi/study/trial.h"

namespace bapi {

class History;

// Finalists are trained again with other seeds (StudySpec::repeat), so that the best configuration is the one with the
// best mean instead of the luckiest one. A repeat is a trial of its own: same configuration and length, another seed.
// Policies begin and resume none; the session does (control/session.h), when the search has spent all but the reserve.
// All of this is a function of the history. docs/noise.md has the rules for users.

// How many finalists the reserve is planned for: as many as a third of the budget repeats, within these bounds.
inline constexpr int kFewestFinalists = 2;
inline constexpr int kMostFinalists = 5;
inline constexpr double kReservedShare = 1.0 / 3.0;
inline constexpr double kMostReserved = 0.5;  // of the budget, however many finalists that leaves

int planned_finalists(Cost total, int repeat, Cost full_training);

// Of a budget in time: what programs are given to end.
Cost time_to_end(const StudySpec& spec);

// What the search leaves to the repeats. Before the cost of a training is known (0): its share of the budget.
Cost repeat_reserve(Cost total, int repeat, Cost full_training);

// What the trainings of one configuration came to. Values are to be maximised, each by the same epoch: the last that
// all of these trainings have.
struct Standing {
  TrialId first{};
  TrialId best{};  // the training with the best value: its model is that of the configuration
  double mean = 0.0;
  std::optional<double> standard_error = {};  // of the mean; none for a single training
  int trainings = 0;                          // that count
  int failed = 0;                             // repeats that failed and do not count
};

// The first training of the configuration that a trial trains: the trial itself unless it is a repeat.
TrialId first_training(const Trial& trial);

// Of a configuration, by its first training; nullopt if that has reported nothing. Repeats count once they have been
// trained as far as was decided.
std::optional<Standing> standing_of(const History& history, TrialId first);

// The best mean of those configurations that were trained at least twice, the earliest of equal ones; nullopt as long
// as there is none.
std::optional<Standing> best_by_mean(const History& history);

// All configurations with a value: first the one that is best by its mean, then the others by their means or, if they
// were trained once, by their value.
std::vector<Standing> leaderboard(const History& history);

// First trainings, the best first: those that are repeated, one after the other.
std::vector<TrialId> finalists(const History& history);

// The next training of a finalist that the remaining budget is expected to pay: every planned finalist gets its second
// training before any gets its third. What is left after that goes to the next best ones that were trained as long as
// the shortest of these, as long as it pays for all trainings that one lacks. nullopt: there is none.
struct RepeatStep {
  RepeatPlace place;
  std::optional<TrialId> resumed = {};  // a repeat that is shorter than the first training by now; none: a new trial
  Epoch until = 0;
  Cost expected_cost = 0.0;
};
std::optional<RepeatStep> next_repeat(const History& history);

}  // namespace bapi
