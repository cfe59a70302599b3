#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bapi/store/leadership.h"
#include "bapi/study/work.h"

// Between the leader of a study and its workers: orders one way, deliveries of facts the other, and leases. What is
// here survives the death of both; study/work.h says what the words mean.
//
// Every call is one step that is done whole or not at all. Calls throw Shortage (base/file.h) if the dispatch cannot be
// reached for now: whether the step was done is then unknown, and the same call may be made again. The calls of a
// leader that was replaced throw LeadershipLost and change nothing.
namespace bapi {

// ---- The worker's side. Several workers may share an object; a worker is known by its number.

// Seconds from the instant `now` of the dispatch's clock at which it was given.
struct Grant {
  double lease = 0.0;  // the worker is taken to be alive
  double train = 0.0;  // it may have processes; 0 or less: it may not
  double now = 0.0;
};

struct Joined {
  WorkerId worker{};
  Grant grant = {};  // without the right to train
};

struct Receipt {
  enum class Kind {
    taken,   // it is safe, and the lease is renewed
    known,   // it had arrived before; nothing was changed, and the grant is what is left of the last one
    fenced,  // not accepted: the lease was over, or the worker is lost. Its processes have to end at once
  };
  Kind kind = Kind::fenced;
  Grant grant = {};  // of `taken` and `known`
};

// What a worker finds.
struct Instructions {
  std::vector<WorkOrder> orders = {};  // every order of the worker, by their numbers
  StudyPhase phase = StudyPhase::open;
  double leader_silent = std::numeric_limits<double>::infinity();  // seconds since the leader's last sign of life
  std::int64_t spec_version = 0;                                   // grows when the specification is changed
};

class WorkerDispatch {
 public:
  virtual ~WorkerDispatch() = default;

  // A new worker, live, with a lease of the present pace from now on. Several calls make several workers.
  virtual Joined join(const WorkerCard& card) = 0;

  // In one step, if the worker is present, its lease is not over, and `number` follows its last delivery:
  //   lease_until = max(lease_until, now + pace.lease)
  //   train_until = max(train_until, min(now + pace.lease, pace.stop_at))   if delivery.trains
  //   tally, delivered, and the delivery itself if it says something.
  // A pace that `set_pace` has returned from is never overlooked.
  virtual Receipt deliver(WorkerId worker, const Delivery& delivery) = 0;

  virtual Instructions look(WorkerId worker) const = 0;

  // From live or set aside to leaving, and from there to gone. Nothing if it is lost; `gone` ends lease and right.
  virtual void change_state(WorkerId worker, WorkerState state) = 0;

  // Returns true when there may be something new for the worker, and false when the time has passed. A hint only: who
  // hears nothing looks once a second all the same. Sleeps also if nobody can be reached; throws nothing.
  virtual bool wait(WorkerId worker, double seconds) = 0;
};

// ---- The leader's side.

// What the leader has made of deliveries.
struct Settlement {
  struct Taken {
    WorkerId worker{};
    std::int64_t number = 0;
    bool operator==(const Taken&) const = default;
  };
  struct Charged {
    TrialId trial{};
    double until = 0.0;
    bool operator==(const Charged&) const = default;
  };
  struct Ended {
    TrialId trial{};
    std::int64_t order = 0;
    bool operator==(const Ended&) const = default;
  };
  std::vector<Taken> taken = {};      // deliveries that are done with: removed
  std::vector<Charged> charged = {};  // `charged_until` of the trials' orders
  std::vector<Ended> ended = {};      // orders that are done with: removed if they have this number
  bool operator==(const Settlement&) const = default;

  bool empty() const { return taken.empty() && charged.empty() && ended.empty(); }
  void add(const Settlement& more) {
    taken.insert(taken.end(), more.taken.begin(), more.taken.end());
    charged.insert(charged.end(), more.charged.begin(), more.charged.end());
    ended.insert(ended.end(), more.ended.begin(), more.ended.end());
  }
};

// What the leader finds, at one instant.
struct Board {
  double now = 0.0;
  std::vector<WorkerRecord> workers = {};       // that are present or have an order or an untaken delivery, by number
  std::vector<StoredDelivery> deliveries = {};  // not taken yet, by (at, worker, number)
};

class LeaderDispatch {
 public:
  virtual ~LeaderDispatch() = default;

  virtual Board read() = 0;
  virtual std::vector<WorkOrder> orders() = 0;  // all, by trial
  virtual Pace pace() = 0;

  // When it returns, every later grant obeys the new pace; what was granted before stands.
  virtual void set_pace(const Pace& pace) = 0;

  // The orders of these trials from now on, all of them in one step; returns them with their numbers, which are larger
  // than those of every order before. A trial's process is taken to be charged for up to this instant if the trial had
  // no order, else as before. `number` and `charged_until` of the arguments are ignored. LogicError if another worker
  // holds one of the trials.
  virtual std::vector<WorkOrder> put_all(std::span<const WorkOrder> orders) = 0;
  WorkOrder put(const WorkOrder& order) { return put_all({&order, 1}).front(); }

  // The next append to the study's log by this leader writes this as well, in the same transaction: never one without
  // the other. What no append has taken along is written by `settle`. A second call before that adds to the first.
  virtual void settle_with_next_append(const Settlement& settlement) = 0;
  virtual void settle() = 0;

  // If the worker is present and its lease is over: it is lost from now on, whatever it still sends. Returns the record
  // of one that is lost after the call, and nullopt if it is not.
  virtual std::optional<WorkerRecord> declare_lost(WorkerId worker) = 0;

  virtual void set_aside(WorkerId worker) = 0;  // if it is live

  // The same for deliveries that matter.
  virtual bool wait(double seconds) = 0;
};

}  // namespace bapi
