#include "bapi/process/training_process.h"
#include "bapi/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/file_tree.h"
#include "bapi/process/gpus.h"
#include "bapi/process/process_table.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

constexpr double kTimestampSlack = 0.02;  // seconds; the kernel stamps files with a coarse clock
constexpr double kLookAgain = 0.005;      // seconds, while what a program left is being killed
constexpr int kMaxWarnings = 5;           // about unreadable reports, per process
constexpr int kTailLines = 20;
constexpr int kReminders = 2;           // to go on, after a stop
constexpr double kRemindAfter = 0.02;   // seconds
constexpr double kReminderPause = 0.3;  // seconds
constexpr std::int64_t kTailBytes = 2048;

std::int64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

// A process that was killed may have left half a line; the next one must not continue it.
void end_last_line(const std::filesystem::path& file) {
  const FileDescriptor fd = open_regular(file, O_RDWR | O_APPEND);
  char last = '\n';
  if (!fd || ::pread(fd.get(), &last, 1, std::max<std::int64_t>(0, size_of(file) - 1)) != 1 || last == '\n') return;
  [[maybe_unused]] const ssize_t ignored = ::write(fd.get(), "\n", 1);
}

// What stands in the place of one of our files and is none; empty if nothing does.
std::string foreign_file(const TrialDir& dir) {
  for (const std::filesystem::path& directory : {dir.root, dir.checkpoint()}) {
    std::error_code ignored;
    if (is_anything_at(directory) && !std::filesystem::is_directory(directory, ignored)) {
      return why_not("use", directory, ENOTDIR);
    }
  }
  for (const std::filesystem::path& file : {dir.log(), dir.report(), dir.config(), dir.process(), dir.ahead()}) {
    for (const char* ending : {"", ".new"}) {
      struct stat status = {};
      const std::string path = file.string() + ending;
      if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) continue;
      return why_not("use", path, S_ISLNK(status.st_mode) ? ELOOP : ENXIO);
    }
  }
  return "";
}

// Unless it is the machine's.
TrainingProcess::Refusal refusal(const Subprocess::Failure& failure) {
  if (is_shortage(failure.error)) throw Shortage(failure.message);
  return {.message = failure.message, .cause = FailureCause::not_run};
}

std::string gpu_text(const Assignment& assignment) {
  const Environment variables = worker_environment(assignment.worker, assignment.gpus);
  const auto device = variables.find("CUDA_VISIBLE_DEVICES");
  return device == variables.end() ? "" : fmt::format(", worker {} on GPU {}", assignment.worker, device->second);
}

std::vector<std::string> inherited_environment() {
  std::vector<std::string> variables;
  for (char** variable = ::environ; variable && *variable; ++variable) variables.emplace_back(*variable);
  return variables;
}

}  // namespace

std::vector<TimedReport> spread(std::vector<ReportLine> reports, double from, double until) {
  std::vector<TimedReport> timed;
  const double step = (until - from) / static_cast<double>(std::max<std::size_t>(1, reports.size()));
  for (ReportLine& report : reports) {
    const auto position = static_cast<double>(timed.size() + 1);
    timed.push_back({.report = std::move(report), .at = std::min(until, from + step * position)});
  }
  return timed;
}

void append_note(const TrialDir& dir, const std::string& text) {
  end_last_line(dir.log());
  const FileDescriptor log = open_regular(dir.log(), O_WRONLY | O_APPEND);
  const std::string line = fmt::format("[bapi] {}\n", text);
  // A full disk must not end the study because of a remark.
  [[maybe_unused]] const ssize_t ignored = ::write(log.get(), line.data(), line.size());
}

std::variant<std::unique_ptr<TrainingProcess>, TrainingProcess::Refusal> TrainingProcess::start(
    const StudySpec& spec,
    const Assignment& assignment,
    double now,
    const Listeners& listeners,
    Guardian& guardian,
    const std::function<void()>& about_to_begin) {
  const TrialDir& dir = assignment.dir;
  const Segment& segment = assignment.segment;
  if (const std::string wrong = foreign_file(dir); !wrong.empty()) {
    return Refusal{.message = wrong, .cause = FailureCause::other};
  }
  dir.create();
  replace_file(dir.config(), encode(segment.config, spec.space) + "\n");
  end_last_line(dir.report());
  const bool found_checkpoint = holds_something(dir.checkpoint());
  const Launch launch = {.arguments = expand_command(spec, assignment),
                         .environment = training_environment(spec, assignment, inherited_environment()),
                         .output = dir.log(),
                         .directory = spec.cwd};
  append_note(dir,
              fmt::format("epochs {} to {}{}: {}",
                          assignment.from + 1,
                          segment.until,
                          gpu_text(assignment),
                          fmt::join(launch.arguments, " ")));

  const std::int64_t report_offset = size_of(dir.report());
  const std::int64_t log_offset = size_of(dir.log());
  ReportReader reader(dir, report_offset, log_offset, spec.metric.name);
  auto launched = Subprocess::launch(launch);
  if (const auto* failure = std::get_if<Subprocess::Failure>(&launched)) return refusal(*failure);
  Subprocess& subprocess = std::get<Subprocess>(launched);
  const ProcessFile file = {.identity = subprocess.identity(),
                            .guardian = guardian.identity(),
                            .mark = guardian.mark(),
                            .dir = dir.root.string(),
                            .spent_before = segment.spent,
                            .recorded = segment.from,
                            .paid = segment.paid,
                            .continued = segment.continued,
                            .from = assignment.from,
                            .until = segment.until,
                            .max_epoch = segment.max_epoch,
                            .report_offset = report_offset,
                            .log_offset = log_offset};
  write_process_file(dir.process(), file);
  about_to_begin();
  if (const auto failure = subprocess.begin()) {
    std::error_code ignored;
    std::filesystem::remove(dir.process(), ignored);
    return refusal(*failure);
  }
  std::unique_ptr<TrainingProcess> process(
      new TrainingProcess(spec, assignment, file, std::move(subprocess), std::move(reader), now, listeners, guardian));
  process->found_checkpoint_ = found_checkpoint;
  return process;
}

TrainingProcess::TrainingProcess(const StudySpec& spec,
                                 const Assignment& assignment,
                                 const ProcessFile& file,
                                 Subprocess subprocess,
                                 ReportReader reader,
                                 double now,
                                 const Listeners& listeners,
                                 Guardian& guardian)
    : trial_(assignment.segment.trial),
      dir_(assignment.dir),
      worker_(assignment.worker),
      file_(file),
      subprocess_(std::move(subprocess)),
      reader_(std::move(reader)),
      account_(spec, ProcessAccount::Opening::of(assignment.segment, file.from, now)),
      guardian_(guardian),
      ward_(guardian.watch(file.identity, dir_.process())),
      started_(now),
      last_report_(now),
      last_read_(now) {
  listen(listeners.reports, dir_.report(), IN_MODIFY);
  listen(listeners.reports, dir_.log(), IN_MODIFY);
  listen(listeners.saves, dir_.checkpoint(), IN_CREATE | IN_MODIFY | IN_MOVED_TO);
}

void TrainingProcess::listen(int listener, const std::filesystem::path& path, std::uint32_t to) {
  const int number = ::inotify_add_watch(listener, path.c_str(), to | IN_DONT_FOLLOW);
  if (number >= 0) watches_.push_back({.listener = listener, .number = number});
}

TrainingProcess::~TrainingProcess() {
  for (const std::string& text : notes_) append_note(dir_, text);
  if (!exit_) guardian_.forget(ward_);
  for (const FileWatch& watch : watches_) ::inotify_rm_watch(watch.listener, watch.number);
}

std::string TrainingProcess::last_output() const {
  return last_lines(dir_.log(), file_.log_offset, kTailLines, kTailBytes);
}

// Written down, so that a later controller does not throw away epochs that may be recorded now.
void TrainingProcess::raise_max_epoch(Epoch max_epoch) {
  if (max_epoch <= file_.max_epoch) return;
  ProcessFile raised = file_;
  raised.max_epoch = max_epoch;
  if (!exit_) raised.lived = guardian_.lived(ward_);
  write_process_file(dir_.process(), raised);
  file_ = raised;
  account_.raise_max_epoch(max_epoch);
}

TrainingProcess::Reports TrainingProcess::read(double now) { return timed(reader_.read(), now); }

TrainingProcess::Reports TrainingProcess::read_rest(double now) { return timed(reader_.read_rest(), now); }

TrainingProcess::Reports TrainingProcess::timed(ReportReader::Batch batch, double now) {
  for (; batch.unreadable > 0 && warnings_ < kMaxWarnings; --batch.unreadable, ++warnings_) {
    note("warning: a line of the report is not JSON and was ignored");
  }
  const double until = std::min(now, gone_at_.value_or(now));
  const double written_at = batch.written_at - guardian_.paused();
  const bool plausible = last_read_ - kTimestampSlack <= written_at && written_at <= until;
  last_read_ = now;
  const double charged = account_.charged_until();
  return {.reports = spread(std::move(batch.reports), charged, std::max(charged, plausible ? written_at : until)),
          .written_at = batch.written_at,
          .to_file = batch.to_file,
          .more = batch.more};
}

void TrainingProcess::reported(std::size_t reports, double now) {
  has_reported_ = true;
  seconds_per_report_ = (now - last_report_) / static_cast<double>(reports);
  last_report_ = now;
}

// A process that is being forked while the others of its group are stopped and continued may be left stopped. So they
// are told again, and once more.
void TrainingProcess::run_on(double now) {
  stopped_ = false;
  if (exit_) return;
  guardian_.go_on(ward_);
  reminders_ = kReminders;
  remind_at_ = now + kRemindAfter;
}

void TrainingProcess::hold(Hold why, double now) {
  remind_at_.reset();
  if (!exit_ && held_.empty()) guardian_.hold(ward_);
  stopped_ = true;
  held_.emplace(why, now);
}

void TrainingProcess::wait_until_stopped() const {
  constexpr std::chrono::milliseconds kPatience{200};
  constexpr timespec kBetweenLooks = {.tv_sec = 0, .tv_nsec = 1'000'000};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!exit_ && !group_stands(process_table(), file_.identity.pid) && std::chrono::steady_clock::now() < until) {
    ::nanosleep(&kBetweenLooks, nullptr);
  }
}

void TrainingProcess::go_on(Hold why, double now) {
  if (held_.erase(why) == 0) return;
  if (terminate_at_) return terminate(now);
  if (!held_.empty()) return;
  run_on(now);
  last_report_ = now;  // it could not report meanwhile
}

void TrainingProcess::hold_back(Reports said) {
  held_back_.reports.insert(held_back_.reports.end(), said.reports.begin(), said.reports.end());
  held_back_.written_at = said.written_at;
  held_back_.to_file = said.to_file;
}

void TrainingProcess::end(Ending why, double grace, double now, Doing doing) {
  saving_ = doing == Doing::saving;
  if (saving_) go_on(Hold::decision, now);
  ending_ = why;
  kill_at_ = now + grace;
  terminate_at_ = now + (held(Hold::snapshot) || saving_ ? grace / 2.0 : 0.0);
  keep_limits(now);
}

void TrainingProcess::goes_on_saving(double now) {
  if (held_.erase(Hold::decision) == 0 || !held_.empty()) return;
  run_on(now);
}

void TrainingProcess::has_finished_saving(double now) {
  if (may_finish_saving()) terminate(now);
}

// The signal comes before the program goes on, so that it does nothing else first.
void TrainingProcess::terminate(double now) {
  terminate_at_.reset();
  terminated_at_ = now;
  if (!exit_) guardian_.signal(ward_, SIGTERM);
  if (stopped_) run_on(now);
  held_.clear();
  last_report_ = now;
}

void TrainingProcess::keep_limits(double now) {
  if (terminate_at_ && now >= *terminate_at_) terminate(now);
  if (remind_at_ && now >= *remind_at_ && !exit_) {
    guardian_.go_on(ward_);
    remind_at_ = --reminders_ > 0 ? std::optional(now + kReminderPause) : std::nullopt;
  }
  if (ending_ != Ending::none && !killed_at_ && !exit_ && now >= kill_at_) {
    const double before = guardian_.now();
    guardian_.signal(ward_, SIGKILL);
    killed_at_ = now + guardian_.now() - before;
  }
}

double TrainingProcess::ran_until(double now) const {
  const std::optional<double> ended = guardian_.ended_at(ward_);
  const double seen = ended ? now - guardian_.now() + *ended : now;
  return std::min({now, seen, killed_at_.value_or(now)});
}

const std::optional<Exit>& TrainingProcess::look_for_exit(double now) {
  if (exit_ || !subprocess_.has_ended()) return exit_;
  if (const Rest rest = guardian_.end_rest(ward_); rest != Rest::none) {
    left_something_ = true;
    if (rest == Rest::found) rest_ran_until_ = now;
    return exit_;
  }
  gone_at_ = rest_ran_until_.value_or(ran_until(now));
  file_.lived = *gone_at_ - started_;
  renew_lived(dir_.process(), file_.mark, file_.identity.pid, file_.lived);
  guardian_.forget(ward_);  // before its number can be given to another process
  exit_ = subprocess_.poll_exit();
  return exit_;
}

double TrainingProcess::next_deadline(double report_timeout) const {
  const double next = next_limit(report_timeout);
  return remind_at_ && !exit_ ? std::min(next, *remind_at_) : next;
}

double TrainingProcess::next_limit(double report_timeout) const {
  if (left_something_) return last_read_ + kLookAgain;
  if (ending_ == Ending::none) return last_report_ + report_timeout;
  if (killed_at_) return std::numeric_limits<double>::infinity();
  return terminate_at_.value_or(kill_at_);
}

void TrainingProcess::note(const std::string& text) { notes_.push_back(text); }

}  // namespace bapi
