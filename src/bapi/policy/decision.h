#pragma once

#include <string>
#include <variant>

#include "bapi/study/event.h"

namespace bapi {

// A new trial, trained to `until`.
struct Start {
  Config config = {};
  Epoch until = 0;
  Cost expected_cost = 0.0;  // 0 if the policy does not predict costs
  Reason why = {};
  TrialAssignment assignment = {};
  bool operator==(const Start&) const = default;
};

// A paused trial, trained on to `until`.
struct Resume {
  TrialId trial{};
  Epoch until = 0;
  Cost expected_cost = 0.0;
  Reason why = {};
  bool operator==(const Resume&) const = default;
};

// A paused trial, never to be resumed. Trials that are only not chosen stay paused.
struct Stop {
  TrialId trial{};
  Reason why = {};
  bool operator==(const Stop&) const = default;
};

// Nothing useful until a running trial reports.
struct Wait {
  bool operator==(const Wait&) const = default;
};

struct Finish {
  std::string reason = {};
  bool operator==(const Finish&) const = default;
};

using Decision = std::variant<Start, Resume, Stop, Wait, Finish>;

}  // namespace bapi
