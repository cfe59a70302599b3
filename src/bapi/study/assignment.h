#pragma once

#include <optional>

#include "bapi/base/units.h"

namespace bapi {

// What a policy has to remember of a trial that it started. It is written with the decision, so that a policy keeps no
// state of its own: everything is read off the history. It explains nothing; that is what `Reason` is for.

// The bracket of HyperBand that a trial belongs to, and the rung at which it entered it.
struct BracketPlace {
  int bracket = 0;
  int rung = 0;
  bool operator==(const BracketPlace&) const = default;
};

// The budget that a look-ahead of several full trials plans with.
struct BudgetSchedule {
  Cost planned = 0.0;
  Cost smallest = 0.0;  // cost of a single step; with no more than this left a new schedule is made
  bool operator==(const BudgetSchedule&) const = default;
};

// A training of a configuration that was trained before, with another seed (StudySpec::repeat).
struct RepeatPlace {
  TrialId of{};    // the first training
  int number = 2;  // this one, among all of the configuration
  bool operator==(const RepeatPlace&) const = default;
};

struct TrialAssignment {
  std::optional<int> initial_run = {};  // its number in the initial design
  std::optional<BracketPlace> place = {};
  std::optional<BudgetSchedule> schedule = {};
  std::optional<int> wish = {};            // the number of the enqueued configuration that it tries; set by the session
  std::optional<RepeatPlace> repeat = {};  // set by the session
  bool operator==(const TrialAssignment&) const = default;
};

}  // namespace bapi
