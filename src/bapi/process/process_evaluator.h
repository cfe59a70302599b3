#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/file.h"
#include "bapi/control/evaluator.h"
#include "bapi/control/process_account.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/history.h"
#include "bapi/study/spec.h"

namespace bapi {

class Guardian;
class TrainingProcess;
struct Exit;
struct TimedReport;

struct ProcessEvaluatorOptions {
  std::optional<double> deadline = {};  // seconds since the Unix epoch; for the training programs' information

  // What a program does that has come to the end of its segment, until it is decided whether the trial goes on. One
  // that is held (SIGSTOP) runs ahead by what it trains until its report is read, which matters where epochs are
  // counted or their cost is reported. Where time is the cost, one that trains on costs no more. Holding is for loops
  // that decide at once.
  enum class AtSegmentEnd { train_on, hold };
  AtSegmentEnd at_segment_end = AtSegmentEnd::train_on;

  // When the machine is out of processes, files, memory or disk space, programs wait to be started; `remark` is told
  // why. Nothing running for this many seconds for such a reason is an error.
  double patience = 60.0;
  std::function<void(const std::string&)> remark = {};
};

// Trains every trial in a process of its own on this machine; docs/training.md is the contract with the program.
//
// Output and reports go to files that are followed here, so nothing a program says is lost when this process dies. The
// facts of one `wait` are taken to be recorded when the next call is made. The clock must be real time. Programs die
// with the thread that calls `start` and `wait`; a guardian ends whatever they leave, keeps the limits while this
// process is busy and stops the programs while it is stopped. Time in which they were stopped so is not charged.
class ProcessEvaluator : public Evaluator {
 public:
  // Throws InvalidInput if the command is empty or has an unknown macro.
  ProcessEvaluator(const StudySpec& spec, StudyDir dir, const Clock& clock, ProcessEvaluatorOptions options = {});
  ~ProcessEvaluator() override;  // kills what still runs; `recover` of the next controller accounts for it

  // To be called once, before anything is started, on a study that has trials: ends what a dead controller left running
  // and returns what its programs still reported and cost. The facts must be recorded before the next call. Calling it
  // again before they are gives the same facts.
  std::vector<Event> recover(const History& history);

  void start(const Segment& segment) override;
  void release(TrialId trial) override;
  std::vector<TrialId> live() const override;
  std::vector<Event> wait(double seconds) override;  // throws StoreError if the trial's files cannot be written
  void recorded() override { forget_recorded(); }
  void keep_within(const RunLimits& limits) override;
  bool out_of_time() const override;
  Cost accrued() const override;
  Cost accrual_rate() const override;

 private:
  TrainingProcess* process_of(TrialId trial) const;
  double now() const;  // the clock, less what the programs were paused
  void fill_slots();
  enum class Begun { yes, later };
  Begun begin(TrialId trial);
  void wait_for_the_machine(const std::string& why);
  void pump();
  void read_reports(TrainingProcess& process);
  bool is_over(TrainingProcess& process);
  void keep_limits(TrainingProcess& process);
  void take_reports(TrainingProcess& process, const std::vector<TimedReport>& reports);
  void conclude(TrainingProcess& process, const Exit& exit);
  Event early_end(const TrainingProcess& process, const Exit& exit, Epoch last) const;
  void close_segment_if_done(TrialId trial, Epoch last);
  void fail(TrainingProcess& process, const std::string& why);
  void forget_recorded();
  double next_deadline() const;
  bool ends_segment_soon(const TrainingProcess& process) const;
  double pause() const;
  void sleep_until(double instant);

  const StudySpec spec_;
  const StudyDir dir_;
  const Clock& clock_;
  const ProcessEvaluatorOptions options_;
  const std::unique_ptr<Guardian> guardian_;
  FileDescriptor changes_;           // inotify: something was appended to a file of a process
  std::map<TrialId, Segment> open_;  // open segments, with what the log holds of their trials
  std::vector<std::unique_ptr<TrainingProcess>> processes_;
  std::deque<TrialId> queue_;                    // wait for a slot
  std::vector<Event> facts_;                     // not handed out yet
  std::vector<std::filesystem::path> obsolete_;  // process files to remove once the facts are recorded
  bool more_to_read_ = false;
  double last_look_ = 0.0;
  std::optional<double> short_since_;  // the machine refuses to start a program
  double try_again_at_ = 0.0;
};

}  // namespace bapi
