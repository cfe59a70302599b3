#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "bapi/base/units.h"
#include "bapi/space/space.h"
#include "bapi/study/curve.h"
#include "bapi/study/event.h"
#include "bapi/study/lifecycle.h"

namespace bapi {

// Epochs (from, until] that were decided and are not done yet.
struct OpenSegment {
  Epoch from = 0;
  Epoch until = 0;
  Cost expected = 0.0;  // the policy's estimate when it was decided; 0 if it made none
  Cost spent = 0.0;     // everything charged to the trial since

  Cost committed() const { return std::max(0.0, expected - spent); }  // what it is still expected to cost
};

struct Trial {
  TrialId id{};
  Config config;
  int pool_row = -1;           // where the study's pool has this configuration; -1 without a pool
  Reason why;                  // of its start
  TrialAssignment assignment;  // what its policy remembers of it
  TrialState state = TrialState::paused;
  Curve curve;
  std::map<Epoch, OtherMetrics> others = {};  // by epoch, where there were any; as reported

  // There is one while the trial is running or interrupted, and only then. An interrupted one is continued before
  // anything else is decided.
  std::optional<OpenSegment> segment = {};
  Epoch asked_until = 0;  // the end of the segment last decided, open or not

  Cost overhead = 0.0;            // start-up, repeated epochs, grace, failure: spent without a point on the curve
  Epoch unreported = 0;           // the last epoch that was charged as trained without a report; 0 if none was
  int starts = 0;                 // segments decided
  int closed_at = -1;             // decisions that the log held when its last segment was done; -1 if none was
  std::string failure;            // why it failed
  std::string interruption = {};  // why its segment was broken off last
  int retries = 0;                // of processes that died, by the rule of the study

  Cost spent() const { return curve.spent() + overhead; }

  // The last epoch that needs not be paid for again where epochs are counted or their cost is reported.
  Epoch paid_epoch() const { return std::max(curve.last_epoch(), unreported); }

  // Whether a policy may resume or stop it. An interrupted trial continues by itself, one that has ended stays so, and
  // a repeat is the session's.
  bool resumable() const { return stage().resumable() && !assignment.repeat; }

  TrialStage stage() const {
    return {.state = state,
            .until = segment ? std::optional(segment->until) : std::nullopt,
            .last_epoch = curve.last_epoch()};
  }
};

}  // namespace bapi
