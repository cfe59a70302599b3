#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/study/event.h"
#include "bapi/study/segment.h"

// What the leader of a study and its workers tell each other (store/dispatch.h).
//
// The leader is the one process that owns the log: it decides, records and keeps the budget. Workers train, on any
// machine. Instants are those of the dispatch's own clock (of a database, the server's), in seconds since the Unix
// epoch; no other clock is ever compared with them.
namespace bapi {

enum class WorkerId : std::int64_t {};
inline std::int64_t index(WorkerId worker) { return static_cast<std::int64_t>(worker); }

enum class WorkerState {
  live,       // takes orders
  set_aside,  // as live, but it is given nothing more: too much has failed there
  leaving,    // ends what it has and takes nothing more
  gone,       // left by itself, with nothing running
  lost,       // its lease ended without a word from it
};
template <>
inline constexpr auto names<WorkerState> = NameTable{Name{WorkerState::live, "live"},
                                                     Name{WorkerState::set_aside, "set aside"},
                                                     Name{WorkerState::leaving, "leaving"},
                                                     Name{WorkerState::gone, "gone"},
                                                     Name{WorkerState::lost, "lost"}};

// Whether deliveries of such a worker are accepted.
inline bool is_present(WorkerState state) {
  return state == WorkerState::live || state == WorkerState::set_aside || state == WorkerState::leaving;
}

// Who a worker is.
struct WorkerCard {
  std::string host = {};
  int pid = 0;
  std::string job = {};      // of a batch system: "slurm 1234_7"; empty without one
  std::string version = {};  // of bapi
  int slots = 1;             // trials that it trains at a time
  bool operator==(const WorkerCard&) const = default;
};

// What became of a worker's time.
struct WorkerTally {
  double busy = 0.0;  // seconds of training since it joined, all processes together
  int failures = 0;   // trials that failed there before their first epoch, in a row
  bool operator==(const WorkerTally&) const = default;
};

struct WorkerRecord {
  WorkerId id{};
  WorkerCard card = {};
  WorkerState state = WorkerState::live;
  double joined = 0.0;
  double lease_until = 0.0;    // it is taken to be alive until then
  double train_until = 0.0;    // its right to have processes ends then; at most `lease_until`, never moved back
  std::int64_t delivered = 0;  // number of its last delivery
  WorkerTally tally = {};
  bool operator==(const WorkerRecord&) const = default;
};

enum class OrderCommand { train, release };
template <>
inline constexpr auto names<OrderCommand> =
    NameTable{Name{OrderCommand::train, "train"}, Name{OrderCommand::release, "release"}};

// What a worker has to do with a trial. A trial has at most one order, so at most one worker holds it; it is held until
// the leader has taken a delivery that says that its process has ended.
struct WorkOrder {
  TrialId trial{};
  WorkerId worker{};
  std::int64_t number = 0;  // grows with every order of the study
  OrderCommand command = OrderCommand::train;
  Segment segment = {};
  std::int64_t seen = 0;       // the worker's last delivery that the leader had taken when it wrote this
  double charged_until = 0.0;  // the log has charged for the trial's process up to here
  bool operator==(const WorkOrder&) const = default;
};

// How a trial stands at its worker, as of a delivery.
struct TrialStanding {
  TrialId trial{};
  std::int64_t order = 0;  // the number of the last order that the worker has seen
  bool ended = false;      // it has no process and waits for none
  bool operator==(const TrialStanding&) const = default;
};

inline constexpr std::size_t kMostFacts = 10'000;             // in a delivery
inline constexpr std::size_t kLargestDelivery = 1024 * 1024;  // bytes of its JSON

// What a worker tells the leader.
struct Delivery {
  std::int64_t number = 0;  // 1, 2, 3, ... of the worker
  std::vector<Event> facts = {};
  std::vector<TrialStanding> standings = {};  // of the trials that it has
  WorkerTally tally = {};
  bool trains = false;  // it has processes, or wants to begin one: asks for the right to
  bool operator==(const Delivery&) const = default;

  // Whether the leader has to see it; else it only renews the lease.
  bool says_something() const { return !facts.empty() || !standings.empty(); }
};

struct StoredDelivery {
  WorkerId worker{};
  double at = 0.0;
  Delivery delivery = {};
  bool operator==(const StoredDelivery&) const = default;
};

// What becomes of the study as a whole.
enum class StudyPhase {
  open,      // it is worked on, or waits for somebody to lead it
  paused,    // somebody asked for a pause: workers wait, and none of them begins to lead
  finished,  // workers may go
};
template <>
inline constexpr auto names<StudyPhase> = NameTable{
    Name{StudyPhase::open, "open"}, Name{StudyPhase::paused, "paused"}, Name{StudyPhase::finished, "finished"}};

// What the leader lets workers have without asking it.
struct Pace {
  double lease = 60.0;                 // seconds from a delivery to the end of its lease
  std::optional<double> stop_at = {};  // no right to have processes is granted beyond; nullopt: no limit
  StudyPhase phase = StudyPhase::open;
  bool operator==(const Pace&) const = default;
};

// JSON text (codec_work.cc), as in codec.h. A delivery that is too large or has too many facts is InvalidInput.
std::string encode(const Segment& segment);
Segment decode_segment(std::string_view text);
std::string encode(const Delivery& delivery);
Delivery decode_delivery(std::string_view text);

}  // namespace bapi
