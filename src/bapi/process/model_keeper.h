#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/file_tree.h"
#include "bapi/process/write_order.h"
#include "bapi/store/snapshot.h"
#include "bapi/study/spec.h"

namespace bapi {

// Keeps the model of a trial's best epoch, although its program trains on after a report and saves over it
// (store/snapshot.h). One per trial, whatever processes it has.
//
// A program that saves, then reports, is stopped at a report that is better than the model that is kept, while its
// files are copied; the copy counts if nothing was written to them after the report. One that is seen to report, then
// save is not stopped: its files are copied once they have changed and come to rest, before its next report.
// What was written before or after a report is told by the kernel's events, and by the times of the files, all from one
// clock: that of their file system. Copies are made in a thread; `look` follows them.
class ModelKeeper {
 public:
  // `wake` is an eventfd that is written to when `look` has something to see.
  ModelKeeper(TrialDir dir, Metric metric, const Clock& clock, int wake);
  ~ModelKeeper();  // returns when the copy that is being made is complete

  void process_begins();
  void process_ended(bool in_order);  // by itself, without an error

  // Of which it is the best value. The model of the best value of the study is copied at any rate. While copies of
  // others have taken more than their share of the time of a process, they are left out: epochs must be very short for
  // that. The model of its last report is then copied when the process has ended, if it is still the trial's best.
  enum class BestOf { study, trial };

  // Whether the program is to be stopped for a report of this value, at once, before `reported`.
  bool wants_stop(double value, BestOf best_of);
  void was_stopped(double seconds) { stopped_ += seconds; }

  struct Report {
    Epoch epoch = 0;
    double value = 0.0;              // as it counts (smoothed), in the user's direction
    double written_at = 0.0;         // time of the file that has it
    bool alone = true;               // no other was read with it
    BestOf best_of = BestOf::study;  // if it is a best value at all
    WriteOrder::Channel channel = WriteOrder::Channel::file;

    SnapshotLabel label() const { return {.epoch = epoch, .value = value}; }
  };
  void reported(const Report& report);  // the last one that was read

  // Whether the program has begun to save an epoch that it has not reported yet, as far as can be told.
  bool is_between_save_and_report(WriteOrder::Channel channel);

  bool saves_first() const { return order_ == Order::saves_first; }  // the process is known to

  // Whether the process has saved nothing so far and found nothing: there is no model that a late look would miss.
  bool still_without_files();

  void look();
  bool needs_stopped_program() const;  // a copy is being made that the program must not disturb
  bool busy() const;                   // no process of the trial may begin
  double next_look() const;            // an instant of the clock; infinite if `wake` will do

  std::vector<std::string> take_notes();  // for the trial's log

 private:
  // How the program goes about it; it is learned from its first reports. Until then a model is kept only where the
  // report itself shows that it was saved for it: to miss one is better than to give it the epoch of another.
  enum class Order { unknown, saves_first, reports_first };
  struct Candidate {
    SnapshotLabel label;
    double written_by = 0.0;
  };
  struct Waiting {
    SnapshotLabel label;
    TreeState at_report;
    TreeState last_seen;
    double changed_at = 0.0;
    double next_look = 0.0;
  };
  class Job;

  // The shortest times between reports and saves of this process, in seconds.
  struct Gaps {
    double after_report = std::numeric_limits<double>::infinity();   // up to the save that follows
    double before_report = std::numeric_limits<double>::infinity();  // from the save before
    int count = 0;                                                   // of epochs with both
    bool epoch_without_save = false;

    bool training_is_before_save(double factor) const { return count > 0 && before_report * factor < after_report; }
    bool training_is_before_report(double factor) const { return count > 0 && after_report * factor < before_report; }
  };

  bool counts_more(double later, double earlier) const;
  bool has_time_for(BestOf best_of) const;
  enum class Saved { before, after };  // the report
  void measure_gaps(const Report& report, double saved_at, Saved saved);
  void learn(const Report& report);
  void wait_for_save(const Report& report, const TreeState& now, Saved saved);
  void copy(const Candidate& candidate);
  void finish_job();
  enum class Writes { done, perhaps_more };
  void look_at_rest(Writes writes);
  void miss(const SnapshotLabel& label, const std::string& reason);

  const TrialDir dir_;
  const Metric metric_;
  const Clock& clock_;
  const int wake_;
  std::optional<Snapshot> kept_;
  std::optional<double> missed_;  // the best value whose model was missed
  TreeState seen_;                // at the last report, or when the process began
  bool saved_ahead_ = false;      // it was seen to save after its last report, of one that saves first the next epoch
  bool began_empty_ = true;       // the process, without a checkpoint
  double reported_at_ = 0.0;      // time of the file that has the last report, or of the beginning
  int reports_ = 0;               // of this process, with the one that is looked at
  Order order_ = Order::unknown;
  Gaps gaps_;
  bool saved_before_first_report_ = false;
  WriteOrder writes_;
  bool told_order_ = false;
  std::unique_ptr<Job> job_;
  double began_at_ = 0.0;              // the process
  double stopped_ = 0.0;               // seconds, for copies
  std::optional<Candidate> left_out_;  // the model of the last report, for which there was no time
  std::optional<SnapshotLabel> lost_;  // the best one that was left out before
  std::optional<Candidate> next_;      // to be copied when the job is done
  std::optional<Waiting> waiting_;     // for the program to save what it has reported
  bool ended_ = false;
  double synced_at_;  // or when it began: a trial of a few fast epochs waits for the disk at its end alone
  std::vector<std::string> notes_;
  int noted_ = 0;
};

}  // namespace bapi
