#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/control/evaluator.h"
#include "bapi/control/process_account.h"
#include "bapi/study/spec.h"

namespace bapi {

// ---- What workers say. A worker trains one segment at a time: Ready, any number of WorkerReports, each answered, and
// then one of the last four. One that needs a machine which is not there yet says Waits before, and Placed when it is.

struct WorkerWaits {};   // for a place on some machine, which costs nothing
struct WorkerPlaced {};  // it has one: its start-up begins
struct WorkerReady {};   // it has the segment; what was before was start-up
struct WorkerReport {
  Epoch epoch = 0;
  double value = 0.0;             // in the user's direction
  std::optional<Cost> cost = {};  // stated by the training function
  OtherMetrics others = {};
  double saving = 0.0;  // seconds that it took after the epoch to keep its model
};
struct WorkerReturned {};  // the training function ended in order; the worker is free
struct WorkerRaised {      // the training function failed; the worker is free
  std::string message = {};
  bool caught = false;  // the caller expects such exceptions: they fail the trial, and nothing else
};
struct WorkerDied {  // by itself or killed; there is no such worker any more
  std::string message = {};
};

struct WorkerLost {  // with its machine, or it cannot be reached any more; the trial is not to blame
  std::string message = {};
};

struct WorkerMessage {
  TrialId trial{};
  double age = 0.0;  // seconds since it was sent
  std::variant<WorkerReady,
               WorkerReport,
               WorkerReturned,
               WorkerRaised,
               WorkerDied,
               WorkerLost,
               WorkerWaits,
               WorkerPlaced>
      what = {};
};

// What a worker is told after a report.
struct WorkerAnswer {
  enum class Kind { go_on, pause, stop, refused };
  Kind kind = Kind::go_on;
  Epoch until = 0;           // the end of the segment
  std::string message = {};  // why the report was refused
};

std::string_view to_string(WorkerAnswer::Kind kind);  // "continue", "pause", "stop", "error"

// Workers that train segments of trials, known by the trial they have. None of the calls waits but `wait`.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;
  virtual void start(const Segment& segment) = 0;                      // a free worker, or a new one
  virtual void answer(TrialId trial, const WorkerAnswer& answer) = 0;  // its last report
  virtual void kill(TrialId trial) = 0;                                // its end arrives as WorkerDied or WorkerLost
  virtual std::vector<WorkerMessage> wait(double seconds) = 0;         // in order; empty on timeout
};

inline constexpr int kMostLosses = 5;

// Trains segments in workers that report every epoch and wait for the answer, so that none runs ahead of what was
// decided. A report is answered once it is recorded: mid-segment at the next call, at the end of a segment by `start`
// or `release`. A worker that is released within an epoch may reach its next report within the grace period and is told
// to pause there; one that has not returned when the grace period is over is killed, and one that waits for a place is
// killed at once. A worker that is lost interrupts its trial, and another one trains the segment; a trial that loses
// more than kMostLosses without a new epoch in between ends them itself, by the memory that it needs for example, and
// has crashed.
class WorkerEvaluator : public Evaluator {
 public:
  // The epoch after which a trial continues that has trained `done` epochs: earlier, if its checkpoint is gone.
  using ContinuesAfter = std::function<Epoch(TrialId, Epoch done)>;
  WorkerEvaluator(const StudySpec& spec, WorkerPool& pool, const Clock& clock, ContinuesAfter continues_after = {});

  int slots() const override { return spec_.workers; }
  void start(const Segment& segment) override;
  void release(TrialId trial) override;
  std::vector<TrialId> live() const override;
  std::vector<Event> wait(double seconds) override;
  bool serve() override;
  Running running() const override;

 private:
  struct Worker {
    Segment segment;
    ProcessAccount account;
    bool segment_open = true;
    bool waits_for_place = false;
    bool waits_for_answer = false;
    bool released = false;
    std::optional<double> kill_at = {};
    std::optional<double> broken_off_at = {};  // released in the middle of an epoch
    bool killed = false;
  };

  void begin(const Segment& segment);
  void fill_slots();
  void answer_recorded_reports();
  void answer(Worker& worker, WorkerAnswer::Kind kind);
  void tell_to_end(Worker& worker);
  void keep_limits();
  virtual void look_around() {}  // several times a second, also while `clock` stands still
  double next_kill() const;
  void take(const WorkerMessage& message);
  void end_wait(Worker& worker, double at);
  void take_report(Worker& worker, const WorkerReport& report, double at);
  void close_if_done(Worker& worker);
  void close_past_last_epoch(Worker& worker);
  void refuse(Worker& worker, const Reading& reading, const WorkerReport& report);
  struct Failure {
    std::string message;
    FailureCause cause;
  };
  void conclude(Worker& worker, const std::optional<Failure>& failure, double at);
  void conclude_lost(Worker& worker, const WorkerLost& lost, double at);
  void forget(const Worker& worker);
  void give(const std::vector<Event>& facts);

  const StudySpec spec_;
  WorkerPool& pool_;
  const Clock& clock_;
  const ContinuesAfter continues_after_;
  std::map<TrialId, Worker> workers_;  // that have a segment
  std::deque<Segment> queue_;          // wait for a slot
  std::vector<Event> facts_;           // not handed out yet
  std::map<TrialId, int> losses_;      // of workers, since the last epoch of each trial
};

}  // namespace bapi
