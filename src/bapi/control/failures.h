#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bapi/study/history.h"

// What a failure of a program or a worker does to its trial and to the run. (Those who ask and tell decide that for
// themselves: AskTell::fail.) Pure functions.
namespace bapi {

struct FailureRules {
  bool keep_going = false;   // record failures also before anything was reported
  bool being_ended = false;  // the run is about to end: a process that dies now was probably told to
};

// Facts with what their failures mean.
struct Judgement {
  std::vector<Event> facts = {};             // to be recorded
  std::vector<TrialId> retried = {};         // to be started again, from their checkpoints
  std::optional<std::string> ends_run = {};  // what people are told
};

// A TrialFailed among the facts stays one only if the trial is to blame:
// - a trial whose process died, of a study in which one has reported, is retried as often as the study says between
//   two new epochs (TrialRetried): a crash that comes by chance costs no trial, however often it comes;
// - if the program cannot be run, or fails before any trial of the study has reported an epoch, the run ends and the
//   trial's segment stays open (Interrupted), so that a corrected program continues with it. A value that is not finite
//   is a result and fails its trial at any time; so does a program whose very name depends on the configuration and
//   that cannot be run, once another one has reported.
Judgement judge(const History& history, std::span<const Event> facts, const FailureRules& rules);

}  // namespace bapi
