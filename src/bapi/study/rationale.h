#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bapi/study/assignment.h"
#include "bapi/study/reason.h"

namespace bapi {

// The reason of a decision as version 0.1 wrote it: a rule in words and numbers by name. Its policies also kept there
// what they had to remember.
struct Rationale {
  std::string rule = {};
  std::vector<std::pair<std::string, double>> numbers = {};
};

// Numbers that 0.1's own policies did not write become notes, rules that they did not have are kept as they are.
Reason reason_of(const Rationale& why);

TrialAssignment assignment_of(const Rationale& why);

}  // namespace bapi
