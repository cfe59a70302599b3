#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bapi/control/process_account.h"
#include "bapi/process/command.h"
#include "bapi/process/guardian.h"
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

  // Prepares the trial's directory and starts the program. A text if the program cannot be run or the directory holds
  // what it must not; throws StoreError if the directory cannot be written, Shortage if the machine is out of
  // something. `changes` is the inotify instance that is to hear of its files; instants are training time.
  static std::variant<std::unique_ptr<TrainingProcess>, std::string> start(
      const StudySpec& spec, const Assignment& assignment, double now, int changes, Guardian& guardian);
  ~TrainingProcess();

  TrialId trial() const { return trial_; }
  const TrialDir& dir() const { return dir_; }
  Epoch told_until() const { return file_.until; }  // BAPI_UNTIL_EPOCH
  ProcessAccount& account() { return account_; }
  const ProcessAccount& account() const { return account_; }
  // Readable when the program ends; -1 once that was seen.
  int descriptor() const { return left_something_ ? -1 : subprocess_.descriptor(); }
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

  void end(Ending why, double grace, double now);  // SIGTERM to all of it; `keep_limits` sees to the rest
  void ended_by_guardian() { ending_ = Ending::released; }
  Ending ending() const { return ending_; }

  // How the program ended, once nothing is left of it; kills what the program left. nullopt before.
  const std::optional<Exit>& look_for_exit(double now);
  std::optional<double> gone_at() const { return gone_at_; }  // known after look_for_exit

  void keep_limits(double now);  // SIGKILL when the grace period is over
  std::string problem() const { return reader_.problem(); }
  bool silent_for(double seconds, double now) const { return now - last_report_ >= seconds; }
  double next_deadline(double report_timeout) const;

  // Adds a line to the trial's log.
  void note(const std::string& text) const;

 private:
  TrainingProcess(const StudySpec& spec,
                  const Assignment& assignment,
                  const ProcessFile& file,
                  Subprocess subprocess,
                  ReportReader reader,
                  double now,
                  int changes,
                  Guardian& guardian);

  std::vector<TimedReport> timed(ReportReader::Batch batch, double now);

  TrialId trial_;
  TrialDir dir_;
  ProcessFile file_;
  Subprocess subprocess_;
  ReportReader reader_;
  ProcessAccount account_;
  int changes_;
  std::vector<int> watches_;
  Guardian& guardian_;
  int ward_;
  double started_;
  std::optional<Exit> exit_;
  std::optional<double> gone_at_;
  bool left_something_ = false;
  Ending ending_ = Ending::none;
  bool killed_ = false;
  bool reports_ignored_ = false;
  bool held_ = false;
  double kill_at_ = 0.0;
  double last_report_;
  double last_read_;
  double seconds_per_report_ = 0.0;
  int warnings_ = 0;
};

// Adds a line of ours to a trial's log; the program's own unfinished line is ended first.
void append_note(const TrialDir& dir, const std::string& text);

}  // namespace bapi
