#pragma once

#include <poll.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/file.h"
#include "bapi/control/evaluator.h"
#include "bapi/control/process_account.h"
#include "bapi/process/training_process.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/history.h"
#include "bapi/study/spec.h"

namespace bapi {

class Guardian;
class ModelKeeper;
struct Exit;

struct ProcessEvaluatorOptions {
  std::optional<double> deadline = {};  // seconds since the Unix epoch; for the training programs' information

  // What a program does that has come to the end of its segment, until it is decided whether the trial goes on. One
  // that is held (SIGSTOP) runs ahead by what it trains until its report is read, which matters where epochs are
  // counted or their cost is reported. Where time is the cost, one that trains on costs no more. Holding is for loops
  // that decide at once. In lockstep it is held, and what it has reported past the end is no fact before the trial's
  // next segment is started, so that chance has no part in the facts.
  enum class AtSegmentEnd { train_on, hold, lockstep };
  AtSegmentEnd at_segment_end = AtSegmentEnd::train_on;

  // The epoch after which a trial continues that has trained `done` epochs: earlier, if its checkpoint is gone. Not
  // set: as the trial's directory says (store/snapshot.h).
  std::function<Epoch(TrialId, Epoch done)> continues_after = {};

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
// process is busy and stops the programs while it is stopped. Time in which they were stopped so is not charged. The
// model of every trial's best epoch is kept (model_keeper.h); the time for which a program is held for that is charged.
class ProcessEvaluator : public Evaluator {
 public:
  // Throws InvalidInput if the command is empty or has an unknown macro, or a GPU is missing.
  ProcessEvaluator(const StudySpec& spec, StudyDir dir, const Clock& clock, ProcessEvaluatorOptions options = {});
  // Kills what still runs; `recover` of the next controller accounts for it. Returns when every model is kept.
  ~ProcessEvaluator() override;

  // To be called once, before anything is started, on a study that has trials: ends what a dead controller left running
  // and returns what its programs still reported and cost. The facts must be recorded before the next call. Calling it
  // again before they are gives the same facts.
  std::vector<Event> recover(const History& history);

  int slots() const override { return spec_.workers; }
  void start(const Segment& segment) override;
  void release(TrialId trial) override;
  std::vector<TrialId> live() const override;
  std::vector<TrialId> in_use() const override;
  std::vector<Event> wait(double seconds) override;  // throws StoreError if the trial's files cannot be written
  void recorded() override { forget_recorded(); }
  bool serve() override;
  void pause() override;
  void go_on() override;
  void keep_within(const RunLimits& limits) override;
  bool out_of_time() const override;
  Running running() const override;

 private:
  TrainingProcess* process_of(TrialId trial) const;
  double now() const;  // the clock, less what the programs were paused
  void fill_slots();
  int free_slot() const;  // the lowest number
  enum class Begun { yes, later };
  Begun begin(TrialId trial);
  void raise_limit(TrainingProcess& process, Epoch max_epoch);
  void wait_for_the_machine(const std::string& why);
  void pump();
  void remove_ended();
  void read_reports(TrainingProcess& process);
  bool is_over(TrainingProcess& process);
  void keep_limits(TrainingProcess& process);
  void take_reports(TrainingProcess& process, const TrainingProcess::Reports& read);
  bool waits_for_decision(TrialId trial) const;
  void take_ahead(TrialId trial);
  void keep_ahead_reports(const TrainingProcess& process);
  bool is_saving(const TrainingProcess& process);
  void end_between_epochs(TrainingProcess& process);
  ModelKeeper& keeper_of(TrialId trial);
  void keep_best_model(TrainingProcess& process, const Measurement& point, const TrainingProcess::Reports& read);
  bool is_best_of_study(double value);
  void wait_for_copy(ModelKeeper& keeper);
  void go_on_after_copy(TrainingProcess& process);
  void forget_copies_made();
  void look_after_models();
  void conclude(TrainingProcess& process, const Exit& exit);
  bool had_nothing_to_train(const Segment& segment, Epoch last) const;
  bool continues_from_snapshot(TrainingProcess& process, const Exit& exit);
  void remove_unreported(TrainingProcess& process);
  bool begins_anew(TrainingProcess& process, const Exit& exit);
  Event early_end(const TrainingProcess& process, const Exit& exit, Epoch last) const;
  void note_epoch_zero(TrainingProcess& process, const ReportLine& report);
  void note_gap(TrainingProcess& process, Epoch before);
  void close_segment_past_last_epoch(TrialId trial, Epoch last);
  void close_segment_if_done(TrialId trial, Epoch last);
  void fail(TrainingProcess& process, const std::string& why, FailureCause cause);
  void forget_recorded();
  double next_deadline() const;
  bool ends_segment_soon(const TrainingProcess& process) const;
  bool may_gather();
  std::vector<pollfd> watched() const;
  bool is_woken() const;
  void sleep_until(double instant);

  const StudySpec spec_;
  const StudyDir dir_;
  const Clock& clock_;
  const ProcessEvaluatorOptions options_;
  const std::vector<std::string> gpus_;  // of the workers (gpus.h)
  const std::unique_ptr<Guardian> guardian_;
  FileDescriptor changes_;                                   // inotify: something was appended to a file of a process
  FileDescriptor saves_;                                     // inotify: something was written to a checkpoint
  FileDescriptor models_;                                    // eventfd: a model was copied
  std::map<TrialId, Segment> open_;                          // open segments, with what the log holds of their trials
  std::map<TrialId, std::vector<double>> recent_;            // reports of trials, as many as smoothing needs
  std::map<TrialId, std::unique_ptr<ModelKeeper>> keepers_;  // of trials that had a process
  std::vector<std::unique_ptr<TrainingProcess>> processes_;
  std::deque<TrialId> queue_;                               // wait for a slot
  std::set<TrialId> restored_;                              // continue from a snapshot, and have reported nothing since
  std::vector<Event> facts_;                                // not handed out yet
  std::vector<std::filesystem::path> obsolete_;             // process files to remove once the facts are recorded
  double best_ = -std::numeric_limits<double>::infinity();  // that was reported; more is better
  std::string epoch_zero_ = {};  // what was said of a program that has reported a value for epoch 0
  bool more_to_read_ = false;
  bool heard_reports_ = false;   // at the last look
  bool woken_by_files_ = false;  // to it
  double last_look_ = 0.0;
  std::optional<double> short_since_;  // the machine refuses to start a program
  double try_again_at_ = 0.0;
};

}  // namespace bapi
