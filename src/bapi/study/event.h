#pragma once

#include <cstdint>
#include <string>
#include <variant>

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

struct TrialFailed {
  TrialId trial{};
  std::string message = {};
  bool operator==(const TrialFailed&) const = default;
};

// The controller went away (Ctrl-C, crash) with the segment open. The trial waits, and is continued first.
struct Interrupted {
  TrialId trial{};
  std::string reason = {};
  bool operator==(const Interrupted&) const = default;
};

enum class OverheadKind {
  start_up,  // from the start of a process until it can train
  repeat,    // epochs trained again after a restart
  grace,     // after the last recorded epoch, until a process that bapi ended was gone
  failed,    // after the last recorded epoch of a process that failed
};

template <>
inline constexpr auto names<OverheadKind> = NameTable{Name{OverheadKind::start_up, "start-up"},
                                                      Name{OverheadKind::repeat, "repeat"},
                                                      Name{OverheadKind::grace, "grace"},
                                                      Name{OverheadKind::failed, "failed"}};

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
                           BudgetChanged>;

bool is_decision(const Event& event);
const Reason* reason_of(const Event& event);          // null for what is no decision about a trial
std::optional<TrialId> trial_of(const Event& event);  // nullopt for events of the study as a whole

using EventSeq = std::int64_t;  // 1, 2, 3, ... without gaps within a study

struct StoredEvent {
  EventSeq seq = 0;
  double at = 0.0;  // seconds since the Unix epoch
  Event event;
  bool operator==(const StoredEvent&) const = default;
};

}  // namespace bapi
