#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

  // Why no program was started: it cannot be run (not_run), or the trial's directory holds what it must not (other).
  struct Refusal {
    std::string message;
    FailureCause cause;
  };

  // The inotify instances that are to hear of its files.
  struct Listeners {
    int reports;  // of what is written to its report and its output
    int saves;    // of what is written to its checkpoint directory
  };

  // Prepares the trial's directory and starts the program. Throws StoreError if the directory cannot be written,
  // Shortage if the machine is out of something. Instants are training time. `about_to_begin` is called when its files
  // are there and it has not run yet.
  static std::variant<std::unique_ptr<TrainingProcess>, Refusal> start(const StudySpec& spec,
                                                                       const Assignment& assignment,
                                                                       double now,
                                                                       const Listeners& listeners,
                                                                       Guardian& guardian,
                                                                       const std::function<void()>& about_to_begin);
  ~TrainingProcess();

  TrialId trial() const { return trial_; }
  const TrialDir& dir() const { return dir_; }
  int worker() const { return worker_; }            // the slot that it occupies
  Epoch told_from() const { return file_.from; }    // BAPI_FROM_EPOCH
  Epoch told_until() const { return file_.until; }  // BAPI_UNTIL_EPOCH
  bool has_reported() const { return has_reported_; }
  bool found_checkpoint() const { return found_checkpoint_; }  // there were files of an earlier process
  ProcessAccount& account() { return account_; }
  const ProcessAccount& account() const { return account_; }
  // Readable when the program ends; -1 once that was seen.
  int descriptor() const { return left_something_ ? -1 : subprocess_.descriptor(); }
  std::string last_output() const;

  void raise_max_epoch(Epoch max_epoch);

  // What it has said since the last call.
  struct Reports {
    std::vector<TimedReport> reports;
    double written_at = 0.0;  // time of the file that has the last of them
    bool to_file = false;     // they were written to the report file, not printed
    bool more = false;        // there is more to be read at once
  };
  Reports read(double now);
  Reports read_rest(double now);
  bool has_said_more() const { return reader_.has_more(); }
  bool reports_to_file() const { return reader_.to_file(); }
  void reported(std::size_t reports, double now);
  double seconds_per_report() const { return seconds_per_report_; }  // lately; 0 before the first

  // What it has said past the end of its segment and is not to be heard yet: the next call of `take_held_back`.
  void hold_back(Reports said);
  Reports take_held_back() { return std::exchange(held_back_, {}); }
  const Reports& held_back() const { return held_back_; }

  // After a failure, or past the last epoch that is paid for, it may say what it likes.
  void ignore_reports() { reports_ignored_ = true; }
  bool reports_ignored() const { return reports_ignored_; }

  // Stops the program (SIGSTOP) for a reason, and lets it go on when there is none left.
  enum class Hold {
    decision,  // it is decided whether the trial is trained on
    snapshot,  // its checkpoint is being copied
  };
  void hold(Hold why, double now);
  void go_on(Hold why, double now);
  bool held(Hold why) const { return held_.contains(why); }
  double held_since(Hold why) const { return held_.at(why); }
  void wait_until_stopped() const;  // of one that is held: a signal takes effect in its own time

  // SIGTERM to all of it; `keep_limits` sees to the rest. While its checkpoint is being copied, the first half of the
  // grace period is the copy's; one that is `saving` has it to come to its next report.
  enum class Doing { training, saving };
  void end(Ending why, double grace, double now, Doing doing = Doing::training);
  bool may_finish_saving() const { return saving_ && terminate_at_; }
  void goes_on_saving(double now);       // up to the next report; it was held to see how far it is
  void has_finished_saving(double now);  // SIGTERM at last
  void ended_by_guardian() { ending_ = Ending::released; }
  Ending ending() const { return ending_; }
  std::optional<double> terminated_at() const { return terminated_at_; }  // when it got SIGTERM from here

  // How the program ended, once nothing is left of it; kills what the program left. nullopt before.
  const std::optional<Exit>& look_for_exit(double now);
  // Up to when it has trained, known after look_for_exit: to its end, or to the SIGKILL after which it executed
  // nothing.
  std::optional<double> gone_at() const { return gone_at_; }

  void keep_limits(double now);  // SIGKILL when the grace period is over
  std::string problem() const { return reader_.problem(); }
  bool silent_for(double seconds, double now) const { return held_.empty() && now - last_report_ >= seconds; }
  double next_deadline(double report_timeout) const;

  // Adds a line to the trial's log when this object goes, and the program with it: while it runs it may be in the
  // middle of a line of its own, and a report that is cut in two is lost.
  void note(const std::string& text);

 private:
  TrainingProcess(const StudySpec& spec,
                  const Assignment& assignment,
                  const ProcessFile& file,
                  Subprocess subprocess,
                  ReportReader reader,
                  double now,
                  const Listeners& listeners,
                  Guardian& guardian);

  Reports timed(ReportReader::Batch batch, double now);
  void terminate(double now);
  void run_on(double now);  // SIGCONT, after SIGSTOP
  double next_limit(double report_timeout) const;
  double ran_until(double now) const;  // of a program whose leader has ended

  TrialId trial_;
  TrialDir dir_;
  int worker_;
  ProcessFile file_;
  Subprocess subprocess_;
  ReportReader reader_;
  ProcessAccount account_;
  struct FileWatch {
    int listener;
    int number;
  };
  void listen(int listener, const std::filesystem::path& path, std::uint32_t to);
  std::vector<FileWatch> watches_;
  Guardian& guardian_;
  int ward_;
  double started_;
  std::optional<Exit> exit_;
  std::optional<double> gone_at_;
  bool left_something_ = false;           // when its leader had ended
  std::optional<double> rest_ran_until_;  // what it left and nobody had killed before
  Ending ending_ = Ending::none;
  std::optional<double> killed_at_;
  bool reports_ignored_ = false;
  std::map<Hold, double> held_;         // with the instant
  bool stopped_ = false;                // by SIGSTOP, for one of the reasons in `held_`
  std::optional<double> remind_at_;     // to send SIGCONT once more
  int reminders_ = 0;                   // still to be sent
  std::optional<double> terminate_at_;  // it is being ended, but its checkpoint is still being copied or saved
  bool saving_ = false;
  std::optional<double> terminated_at_;
  double kill_at_ = 0.0;
  double last_report_;
  double seconds_per_report_ = 0.0;
  double last_read_;
  Reports held_back_;
  bool has_reported_ = false;  // anything
  bool found_checkpoint_ = false;
  int warnings_ = 0;
  std::vector<std::string> notes_;
};

// Adds a line of ours to a trial's log, which no program writes to; an unfinished line is ended first.
void append_note(const TrialDir& dir, const std::string& text);

}  // namespace bapi
