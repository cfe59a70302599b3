#include "bapi/process/training_process.h"
#include "bapi/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "bapi/study/codec.h"

namespace bapi {
namespace {

constexpr double kSignOfLifeEvery = 1.0;  // seconds
constexpr int kMaxWarnings = 5;           // about unreadable reports, per process
constexpr int kTailLines = 20;
constexpr std::int64_t kTailBytes = 2048;

std::int64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

// A process that was killed may have left half a line; the next one must not continue it.
void end_last_line(const std::filesystem::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  char last = '\n';
  if (!fd || ::pread(fd.get(), &last, 1, std::max<std::int64_t>(0, size_of(file) - 1)) != 1 || last == '\n') return;
  [[maybe_unused]] const ssize_t ignored = ::write(fd.get(), "\n", 1);
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
  const FileDescriptor log(::open(dir.log().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const std::string line = fmt::format("[bapi] {}\n", text);
  // A full disk must not end the study because of a remark.
  [[maybe_unused]] const ssize_t ignored = ::write(log.get(), line.data(), line.size());
}

std::variant<std::unique_ptr<TrainingProcess>, std::string> TrainingProcess::start(const StudySpec& spec,
                                                                                   const Assignment& assignment,
                                                                                   double now,
                                                                                   int changes) {
  const TrialDir& dir = assignment.dir;
  const Segment& segment = assignment.segment;
  dir.create();
  replace_file(dir.config(), encode(segment.config, spec.space) + "\n");
  end_last_line(dir.report());
  const Launch launch = {.arguments = expand_command(spec, assignment),
                         .environment = training_environment(spec, assignment, inherited_environment()),
                         .output = dir.log()};
  append_note(dir,
              fmt::format("epochs {} to {}: {}", assignment.from + 1, segment.until, fmt::join(launch.arguments, " ")));

  const std::int64_t report_offset = size_of(dir.report());
  const std::int64_t log_offset = size_of(dir.log());
  auto launched = Subprocess::launch(launch);
  if (const auto* failure = std::get_if<Subprocess::Failure>(&launched)) return failure->message;
  Subprocess& subprocess = std::get<Subprocess>(launched);
  const ProcessFile file = {.identity = subprocess.identity(),
                            .started_at = now,
                            .spent_before = segment.spent,
                            .recorded = segment.from,
                            .from = assignment.from,
                            .until = segment.until,
                            .max_epoch = segment.max_epoch,
                            .report_offset = report_offset,
                            .log_offset = log_offset};
  write_process_file(dir.process(), file);
  if (const auto failure = subprocess.begin()) {
    std::filesystem::remove(dir.process());
    return failure->message;
  }
  return std::unique_ptr<TrainingProcess>(new TrainingProcess(spec, assignment, file, std::move(subprocess), changes));
}

TrainingProcess::TrainingProcess(
    const StudySpec& spec, const Assignment& assignment, const ProcessFile& file, Subprocess subprocess, int changes)
    : trial_(assignment.segment.trial),
      dir_(assignment.dir),
      file_(file),
      subprocess_(std::move(subprocess)),
      reader_(dir_, file.report_offset, file.log_offset, spec.metric.name),
      account_(spec,
               {.trial = trial_,
                .last_epoch = file.recorded,
                .usual_epoch = assignment.segment.usual_epoch,
                .spent = file.spent_before,
                .from = file.from,
                .max_epoch = file.max_epoch,
                .charged_until = file.started_at}),
      changes_(changes),
      last_report_(file.started_at),
      last_sign_of_life_(file.started_at) {
  for (const std::filesystem::path& watched : {dir_.report(), dir_.log()}) {
    watches_.push_back(::inotify_add_watch(changes_, watched.c_str(), IN_MODIFY));
  }
}

TrainingProcess::~TrainingProcess() {
  for (const int watch : watches_) {
    if (watch >= 0) ::inotify_rm_watch(changes_, watch);
  }
}

std::string TrainingProcess::last_output() const {
  return last_lines(dir_.log(), file_.log_offset, kTailLines, kTailBytes);
}

// Written down, so that a later controller does not throw away epochs that may be recorded now.
void TrainingProcess::raise_max_epoch(Epoch max_epoch) {
  if (max_epoch <= file_.max_epoch) return;
  file_.max_epoch = max_epoch;
  write_process_file(dir_.process(), file_);
  account_.raise_max_epoch(max_epoch);
}

TrainingProcess::Reports TrainingProcess::read(double now) {
  ReportReader::Batch batch = reader_.read();
  const bool more = batch.more;
  return {.reports = timed(std::move(batch), now), .more = more};
}

std::vector<TimedReport> TrainingProcess::read_rest(double now) { return timed(reader_.read_rest(), now); }

std::vector<TimedReport> TrainingProcess::timed(ReportReader::Batch batch, double now) {
  for (; batch.unreadable > 0 && warnings_ < kMaxWarnings; --batch.unreadable, ++warnings_) {
    note("warning: a line of the report is not JSON and was ignored");
  }
  const double charged = account_.charged_until();
  return spread(std::move(batch.reports), charged, std::clamp(batch.written_at, std::min(charged, now), now));
}

void TrainingProcess::reported(std::size_t reports, double now) {
  seconds_per_report_ = (now - last_report_) / static_cast<double>(reports);
  last_report_ = now;
}

void TrainingProcess::hold() {
  subprocess_.signal_group(SIGSTOP);
  held_ = true;
}

void TrainingProcess::go_on(double now) {
  if (!held_) return;
  subprocess_.signal_group(SIGCONT);
  held_ = false;
  last_report_ = now;  // it could not report meanwhile
}

void TrainingProcess::end(Ending why, double grace, double now) {
  ending_ = why;
  kill_at_ = now + grace;
  subprocess_.signal_group(SIGTERM);
  go_on(now);
  keep_limits(now);
}

void TrainingProcess::keep_limits(double now) {
  if (ending_ != Ending::none && !killed_ && now >= kill_at_) {
    subprocess_.signal_group(SIGKILL);
    killed_ = true;
  }
  if (now - last_sign_of_life_ >= kSignOfLifeEvery) {
    ::utimensat(AT_FDCWD, dir_.process().c_str(), nullptr, 0);
    last_sign_of_life_ = now;
  }
}

double TrainingProcess::next_deadline(double report_timeout) const {
  const double sign_of_life = last_sign_of_life_ + kSignOfLifeEvery;
  if (ending_ == Ending::none) return std::min(sign_of_life, last_report_ + report_timeout);
  return killed_ ? sign_of_life : std::min(sign_of_life, kill_at_);
}

void TrainingProcess::note(const std::string& text) const { append_note(dir_, text); }

}  // namespace bapi
