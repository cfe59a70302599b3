#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bapi/control/process_account.h"
#include "bapi/process/command.h"
#include "bapi/process/process_file.h"
#include "bapi/process/report_reader.h"
#include "bapi/process/subprocess.h"

namespace bapi {

// A report and the instant it was made. Reports that are read together are spread evenly over the time since the
// last: an estimate that keeps the cost of epochs fair when nobody looked for a while.
struct TimedReport {
  ReportLine report;
  double at = 0.0;
};

std::vector<TimedReport> spread(std::vector<ReportLine> reports, double from, double until);

// One process of a trial: the program, what it says, and what is to become of it.
class TrainingProcess {
 public:
  // Why the process is being ended.
  enum class Ending {
    none,      // it is not
    released,  // the trial is paused or stopped
    failed,    // it said or did something it must not
  };

  // Prepares the trial's directory and starts the program. A text if the program cannot be run; throws StoreError if
  // the directory cannot be written. `changes` is the inotify instance that is to hear of its files.
  static std::variant<std::unique_ptr<TrainingProcess>, std::string> start(const StudySpec& spec,
                                                                           const Assignment& assignment,
                                                                           double now,
                                                                           int changes);
  ~TrainingProcess();

  TrialId trial() const { return trial_; }
  const TrialDir& dir() const { return dir_; }
  Epoch told_until() const { return file_.until; }  // BAPI_UNTIL_EPOCH
  ProcessAccount& account() { return account_; }
  const ProcessAccount& account() const { return account_; }
  int descriptor() const { return subprocess_.descriptor(); }
  std::string last_output() const;

  void raise_max_epoch(Epoch max_epoch);

  // What it has said since the last call.
  struct Reports {
    std::vector<TimedReport> reports;
    bool more = false;  // there is more to be read at once
  };
  Reports read(double now);
  std::vector<TimedReport> read_rest(double now);
  void reported(std::size_t reports, double now);
  double seconds_per_report() const { return seconds_per_report_; }  // lately; 0 before the first

  // After a failure, or past the last epoch that is paid for, it may say what it likes.
  void ignore_reports() { reports_ignored_ = true; }
  bool reports_ignored() const { return reports_ignored_; }

  // Stops the program (SIGSTOP) while it is decided whether the trial is trained on, and lets it go on.
  void hold();
  void go_on(double now);

  void end(Ending why, double grace, double now);  // SIGTERM to the group; `keep_limits` sees to the rest
  Ending ending() const { return ending_; }
  std::optional<Exit> poll_exit() { return subprocess_.poll_exit(); }

  // SIGKILL when the grace period is over; a sign of life for a later controller.
  void keep_limits(double now);
  bool silent_for(double seconds, double now) const { return now - last_report_ >= seconds; }
  double next_deadline(double report_timeout) const;

  // Adds a line to the trial's log.
  void note(const std::string& text) const;

 private:
  TrainingProcess(
      const StudySpec& spec, const Assignment& assignment, const ProcessFile& file, Subprocess subprocess, int changes);

  std::vector<TimedReport> timed(ReportReader::Batch batch, double now);

  TrialId trial_;
  TrialDir dir_;
  ProcessFile file_;
  Subprocess subprocess_;
  ReportReader reader_;
  ProcessAccount account_;
  int changes_;
  std::vector<int> watches_;
  Ending ending_ = Ending::none;
  bool killed_ = false;
  bool reports_ignored_ = false;
  bool held_ = false;
  double kill_at_ = 0.0;
  double last_report_;
  double seconds_per_report_ = 0.0;
  double last_sign_of_life_;
  int warnings_ = 0;
};

// Adds a line of ours to a trial's log; the program's own unfinished line is ended first.
void append_note(const TrialDir& dir, const std::string& text);

}  // namespace bapi
