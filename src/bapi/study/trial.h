#pragma once

#include <string>
#include <string_view>

#include "bapi/base/units.h"
#include "bapi/space/space.h"
#include "bapi/study/curve.h"
#include "bapi/study/event.h"

namespace bapi {

enum class TrialState {
  running,    // has an open segment
  paused,     // may be resumed; checkpoint kept
  completed,  // trained to the last epoch, or its program ended by itself: nothing more to come
  stopped,    // the policy gave it up for good
  failed,     // crashed, diverged, never reported: nothing more to come
};

std::string_view to_string(TrialState state);

struct Trial {
  TrialId id{};
  Config config;
  int pool_row = -1;           // where the study's pool has this configuration; -1 without a pool
  Reason why;                  // of its start
  TrialAssignment assignment;  // what its policy remembers of it
  TrialState state = TrialState::running;
  Curve curve;

  // The segment last decided: epochs (from, until]. It is open until SegmentDone; an interrupted one stays open (the
  // trial is `paused` meanwhile) and is continued before anything else is decided.
  Epoch from = 0;
  Epoch until = 0;
  bool segment_open = false;
  Cost segment_expected = 0.0;  // the policy's estimate when it was decided; 0 if it made none
  Cost segment_spent = 0.0;     // everything charged to the trial since

  Cost overhead = 0.0;  // start-up, repeated epochs, grace, failure: spent without a point on the curve
  int starts = 0;       // segments decided
  int closed_at = -1;   // decisions that the log held when its last segment was done; -1 if none was
  std::string failure;  // why it failed

  Cost spent() const { return curve.spent() + overhead; }
};

}  // namespace bapi
