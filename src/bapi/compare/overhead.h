#pragma once

#include <span>
#include <string>
#include <vector>

#include "bapi/tables/timed_policy.h"

namespace bapi {

// What decisions took that were made with about the same number of trials.
struct DecisionTimes {
  double trials = 0.0;  // their mean
  int decisions = 0;
  double seconds = 0.0;  // of all of them
  bool operator==(const DecisionTimes&) const = default;
};

// Two groups for every doubling of the number of trials.
std::vector<DecisionTimes> decision_times(std::span<const TimedDecision> decisions);

// A decision with n trials takes fixed + scale n^power seconds: what a policy is charged by, so that runs do not depend
// on the machine's moods.
struct OverheadModel {
  double fixed = 0.0;
  double scale = 0.0;
  double power = 0.0;
  double seconds(double trials) const;
  bool operator==(const OverheadModel&) const = default;
};

// "0.0012 + 3.1e-06 n^1.75 s"
std::string to_text(const OverheadModel& model);

// Least squares over all decisions, with no coefficient below zero and the power one of 0.25, 0.5, ... 3, that of the
// models behind decisions. Coefficients have three digits, so that to_text says all.
OverheadModel fit_overhead(std::span<const DecisionTimes> times);

}  // namespace bapi
