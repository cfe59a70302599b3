#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bapi/base/units.h"
#include "bapi/study/event.h"

namespace bapi {

enum class TrialState {
  running,      // has an open segment that is being trained
  interrupted,  // has an open segment that waits to be continued, before anything else is decided
  paused,       // between segments: may be resumed or stopped; checkpoint kept
  completed,    // trained to the last epoch, or its program ended by itself: nothing more to come
  stopped,      // given up for good, by the policy or the user
  failed,       // crashed, diverged, never reported: nothing more to come
};

std::string_view to_string(TrialState state);

// The life of a trial, as far as it decides which events may follow.
struct TrialStage {
  TrialState state = TrialState::paused;
  std::optional<Epoch> until = {};  // where the open segment ends; nullopt without one
  Epoch last_epoch = 0;             // that was reported

  bool resumable() const { return state == TrialState::paused; }  // or stopped, by a policy

  // Why `event`, which names this trial, cannot follow in a study of `max_epoch` epochs; nullopt if it can.
  std::optional<std::string> objection(const Event& event, Epoch max_epoch) const;

  // Where the trial stands after an event without objection.
  TrialStage after(const Event& event, Epoch max_epoch) const;
};

}  // namespace bapi
