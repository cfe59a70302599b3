#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bapi/base/units.h"
#include "bapi/space/space.h"
#include "bapi/study/assignment.h"
#include "bapi/study/curve.h"
#include "bapi/study/reason.h"

namespace bapi {

// Every event, a decision or a fact, is appended only after exactly the last one that its writer has seen (store.h).

// ---- Decisions: what a policy chose to do.

struct TrialStarted {
  TrialId trial{};
  Config config = {};
  Epoch until = 0;
  Cost expected_cost = 0.0;
  Reason why = {};
  TrialAssignment assignment = {};
  bool operator==(const TrialStarted&) const = default;
};

struct TrialResumed {
  TrialId trial{};
  Epoch until = 0;
  Cost expected_cost = 0.0;
  Reason why = {};
  bool operator==(const TrialResumed&) const = default;
};

struct TrialStopped {
  TrialId trial{};
  Reason why = {};
  bool operator==(const TrialStopped&) const = default;
};

struct StudyFinished {
  std::string reason = {};
  bool operator==(const StudyFinished&) const = default;
};

// ---- Facts: what has happened. Values are what the training program printed, in the user's direction.

struct Measured {
  TrialId trial{};
  Measurement measurement = {};
  Rare<OtherMetrics> others = {};  // that the report had
  bool operator==(const Measured&) const = default;
};

// The trial has reached `until` of its segment.
struct SegmentDone {
  TrialId trial{};
  bool operator==(const SegmentDone&) const = default;
};

// The training program ended by itself, in order, before its last epoch: the trial is completed where it stands.
struct ProgramEnded {
  TrialId trial{};
  bool operator==(const ProgramEnded&) const = default;
};

// What went wrong with a trial. What follows from it is decided in control/failures.h.
enum class FailureCause {
  other,         // whoever trained it says so; logs of version 0.1 do not tell
  diverged,      // it reported a value that is not finite
  crashed,       // its process died by a signal or ended with an exit code
  raised,        // its training function raised an exception
  not_run,       // its program could not be run
  silent,        // its process did not report in time
  no_report,     // its process ended in order without having reported anything
  wrong_report,  // it reported something else than was expected
};

template <>
inline constexpr auto names<FailureCause> = NameTable{Name{FailureCause::other, "other"},
                                                      Name{FailureCause::diverged, "diverged"},
                                                      Name{FailureCause::crashed, "crashed"},
                                                      Name{FailureCause::raised, "raised"},
                                                      Name{FailureCause::not_run, "not run"},
                                                      Name{FailureCause::silent, "silent"},
                                                      Name{FailureCause::no_report, "no report"},
                                                      Name{FailureCause::wrong_report, "wrong report"}};

struct TrialFailed {
  TrialId trial{};
  std::string message = {};
  FailureCause cause = FailureCause::other;
  bool operator==(const TrialFailed&) const = default;
};

// The trial is continued from its checkpoint although its process has failed: by the rule of the study (`retries`), its
// segment still open, or because the user asks for it after it had failed.
struct TrialRetried {
  TrialId trial{};
  std::string reason = {};
  Epoch until = 0;  // where the segment ends that is opened again; 0: that of the open one
  bool operator==(const TrialRetried&) const = default;
};

// The controller went away (Ctrl-C, crash) with the segment open. The trial waits, and is continued first.
struct Interrupted {
  TrialId trial{};
  std::string reason = {};
  bool operator==(const Interrupted&) const = default;
};

enum class OverheadKind {
  start_up,    // from the start of a process until it can train
  repeat,      // epochs trained again after a restart
  grace,       // from the signal that ended a process, or its last epoch if it ended by itself, until it was gone
  failed,      // after the last recorded epoch of a process that failed
  unreported,  // an epoch that was trained and saved, but never reported: a gap in the curve
  snapshot,    // while the model of its best epoch was copied
  unfinished,  // an epoch that was being trained when its process was ended
  lost,        // what a process may have cost, on a worker of which nothing was heard any more
};

template <>
inline constexpr auto names<OverheadKind> = NameTable{Name{OverheadKind::start_up, "start-up"},
                                                      Name{OverheadKind::repeat, "repeat"},
                                                      Name{OverheadKind::grace, "grace"},
                                                      Name{OverheadKind::failed, "failed"},
                                                      Name{OverheadKind::unreported, "unreported"},
                                                      Name{OverheadKind::snapshot, "snapshot"},
                                                      Name{OverheadKind::unfinished, "unfinished"},
                                                      Name{OverheadKind::lost, "lost"}};

// Spent without a new point on the curve. `epoch` is the epoch that was being trained (repeated, broken off).
struct Overhead {
  TrialId trial{};
  OverheadKind kind = OverheadKind::start_up;
  Epoch epoch = 0;
  Cost cost = 0.0;
  bool operator==(const Overhead&) const = default;
};

// The user set another total. Continues a finished study if something is left again.
struct BudgetChanged {
  Cost total = 0.0;
  bool operator==(const BudgetChanged&) const = default;
};

// The user changed what may be changed of a study that exists, field by field.
struct SettingChange {
  std::string field = {};
  std::string before = {};
  std::string after = {};
  bool operator==(const SettingChange&) const = default;
};
struct SettingsChanged {
  std::vector<SettingChange> changes = {};
  bool operator==(const SettingsChanged&) const = default;
};

// Somebody asks for a configuration to be tried: it takes the place of the next new one.
struct ConfigEnqueued {
  Config wish = {};     // values that are not given (std::monostate) are those that the policy proposes
  std::string by = {};  // "the study file", "bapi add", "Python"
  std::string id = {};  // of a request to a study that was being run (store/wish_box.h); empty for others
  bool operator==(const ConfigEnqueued&) const = default;
};

using Event = std::variant<TrialStarted,
                           TrialResumed,
                           TrialStopped,
                           StudyFinished,
                           Measured,
                           SegmentDone,
                           ProgramEnded,
                           TrialFailed,
                           Interrupted,
                           Overhead,
                           BudgetChanged,
                           TrialRetried,
                           SettingsChanged,
                           ConfigEnqueued>;

bool is_decision(const Event& event);
const Reason* reason_of(const Event& event);          // null for what is no decision about a trial
std::optional<TrialId> trial_of(const Event& event);  // nullopt for events of the study as a whole

// What an event charges to the budget; nullopt for those that charge nothing.
struct TrialCharge {
  TrialId trial{};
  Epoch epoch = 0;
  Cost cost = 0.0;
};
std::optional<TrialCharge> charge_in(const Event& event);

using EventSeq = std::int64_t;  // 1, 2, 3, ... without gaps within a study

struct StoredEvent {
  EventSeq seq = 0;
  double at = 0.0;  // seconds since the Unix epoch
  Event event;
  bool operator==(const StoredEvent&) const = default;
};

}  // namespace bapi
