#include "bapi/process/process_evaluator.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/process/failure_text.h"
#include "bapi/process/guardian.h"
#include "bapi/process/recovery.h"
#include "bapi/process/training_process.h"

namespace bapi {
namespace {

using Ending = TrainingProcess::Ending;

// Between two looks at the files, so that a program that prints without pause does not keep this process busy. Instants
// come from the files themselves and do not suffer.
constexpr double kPause = 0.005;  // seconds

// The same while no program is about to end its segment: then no decision waits for the reports, and those of fast
// programs are recorded together.
constexpr double kGatheringPause = 0.05;  // seconds

// After the machine had no room for another program.
constexpr double kTryAgainEvery = 1.0;  // seconds

// Where the kernel has no inotify instance left, files are looked at this often.
constexpr double kLookEvery = 0.02;  // seconds

Assignment some_assignment(const StudySpec& spec, const StudyDir& dir) {
  Segment segment;
  segment.config.values.resize(spec.space.params().size());
  return {.segment = segment, .from = 0, .dir = dir.trial(TrialId{0}), .deadline = {}};
}

std::string crash_text(const Exit& exit, Epoch last_epoch) {
  return fmt::format("{} {}{}",
                     exit.text(),
                     last_epoch > 0 ? fmt::format("after epoch {}", last_epoch) : "before its first epoch",
                     exit.signal == SIGKILL ? " (out of memory?)" : "");
}

std::string silence_text(double seconds) {
  return fmt::format(
      "no report for {:.6g} seconds. An epoch is reported by a line {{\"epoch\": 1, ...}} in the file $BAPI_REPORT or "
      "by printing `bapi: {{...}}` with the output flushed; report_timeout in the study file sets the limit",
      seconds);
}

std::string no_report_text(const std::string& metric) {
  return fmt::format(
      "the program ended with exit code 0 but reported no epoch. After every epoch it must append a line such as "
      "{{\"epoch\": 1, \"{}\": 0.91}} to the file named by $BAPI_REPORT, or print it after `bapi: `",
      metric);
}

}  // namespace

ProcessEvaluator::ProcessEvaluator(const StudySpec& spec,
                                   StudyDir dir,
                                   const Clock& clock,
                                   ProcessEvaluatorOptions options)
    : spec_(spec),
      dir_(std::move(dir)),
      clock_(clock),
      options_(std::move(options)),
      guardian_(std::make_unique<Guardian>(spec.workers, spec.effective_grace())),
      changes_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  require(!spec_.command.empty(), "command: expected the program that trains, as a list of arguments");
  expand_command(spec_, some_assignment(spec_, dir_));
}

ProcessEvaluator::~ProcessEvaluator() { guardian_->end_all(); }

double ProcessEvaluator::now() const { return clock_.now() - guardian_->paused(); }

void ProcessEvaluator::keep_within(const RunLimits& limits) {
  guardian_->set_limits({.training_seconds = limits.training_seconds, .seconds = limits.seconds});
}

bool ProcessEvaluator::out_of_time() const { return guardian_->limit_passed(); }

TrainingProcess* ProcessEvaluator::process_of(TrialId trial) const {
  const auto found = std::find_if(
      processes_.begin(), processes_.end(), [&](const auto& process) { return process->trial() == trial; });
  return found == processes_.end() ? nullptr : found->get();
}

std::vector<TrialId> ProcessEvaluator::live() const {
  std::vector<TrialId> trials;
  for (const auto& process : processes_) trials.push_back(process->trial());
  for (const TrialId trial : queue_) {
    if (!process_of(trial)) trials.push_back(trial);
  }
  return trials;
}

void ProcessEvaluator::start(const Segment& segment) {
  check(segment.until <= segment.max_epoch, "ProcessEvaluator: a segment ends after the last epoch that is paid for");
  forget_recorded();
  open_[segment.trial] = segment;
  TrainingProcess* process = process_of(segment.trial);
  if (process) process->account().continue_from(segment.from, segment.spent);
  if (process && process->ending() == Ending::none) {
    process->raise_max_epoch(segment.max_epoch);
    process->go_on(now());
    close_segment_if_done(segment.trial, segment.from);
    return;
  }
  queue_.push_back(segment.trial);  // `wait` begins it
}

void ProcessEvaluator::release(TrialId trial) {
  forget_recorded();
  std::erase(queue_, trial);
  TrainingProcess* process = process_of(trial);
  if (!process) {
    open_.erase(trial);
  } else if (process->ending() == Ending::none) {
    process->end(Ending::released, spec_.effective_grace(), now());
  } else if (process->ending() == Ending::failed) {
    open_.erase(trial);  // it shall not be replaced by a new one
  }
}

// A process begins only when the facts of the trial's last one have been handed out: its file replaces the other's.
void ProcessEvaluator::fill_slots() {
  if (short_since_ && now() < try_again_at_) return;
  for (auto next = queue_.begin(); next != queue_.end() && facts_.empty();) {
    const TrialId trial = *next;
    if (const auto segment = open_.find(trial); segment != open_.end()) {
      const TrainingProcess* process = process_of(trial);
      close_segment_if_done(trial, process ? process->account().last_epoch() : segment->second.from);
    }
    if (!open_.contains(trial)) {
      next = queue_.erase(next);
    } else if (std::ssize(processes_) < spec_.workers && !process_of(trial)) {
      if (begin(trial) == Begun::later) return;
      next = queue_.erase(next);
    } else {
      ++next;
    }
  }
}

ProcessEvaluator::Begun ProcessEvaluator::begin(TrialId trial) {
  const Segment& segment = open_.at(trial);
  const Assignment assignment = {.segment = segment,
                                 .from = spec_.begins_after(segment.from),
                                 .dir = dir_.trial(trial),
                                 .deadline = options_.deadline,
                                 .mark = guardian_->mark()};
  std::variant<std::unique_ptr<TrainingProcess>, std::string> started;
  try {
    started = TrainingProcess::start(spec_, assignment, now(), changes_.get(), *guardian_);
  } catch (const Shortage& shortage) {
    wait_for_the_machine(shortage.what());
    return Begun::later;
  }
  short_since_.reset();
  if (const auto* why = std::get_if<std::string>(&started)) {
    open_.erase(trial);
    facts_.emplace_back(TrialFailed{.trial = trial, .message = failure_text(*why, "")});
    append_note(assignment.dir, *why);
    return Begun::yes;
  }
  processes_.push_back(std::move(std::get<std::unique_ptr<TrainingProcess>>(started)));
  return Begun::yes;
}

// The trial is not to blame: it stays in the queue. While other programs run, their end may be what helps.
void ProcessEvaluator::wait_for_the_machine(const std::string& why) {
  if (!short_since_ && options_.remark) options_.remark(fmt::format("{}; trying again", why));
  if (!short_since_ || !processes_.empty()) short_since_ = now();
  if (now() - *short_since_ >= options_.patience) {
    throw Shortage(
        fmt::format("{}. No program could be started for {:.6g} s; nothing is lost, run the study again when "
                    "the machine has room",
                    why,
                    options_.patience));
  }
  try_again_at_ = now() + kTryAgainEvery;
}

std::vector<Event> ProcessEvaluator::wait(double seconds) {
  const double until = now() + seconds;
  forget_recorded();
  guardian_->stay_guarded();
  while (true) {
    fill_slots();
    pump();
    if (!facts_.empty() || now() >= until) return std::exchange(facts_, {});
    forget_recorded();
    fill_slots();
    sleep_until(std::min(until, next_deadline()));
  }
}

void ProcessEvaluator::pump() {
  last_look_ = now();
  more_to_read_ = false;
  for (const auto& process : processes_) {
    read_reports(*process);
    keep_limits(*process);
  }
  std::erase_if(processes_, [&](const auto& process) { return is_over(*process); });
}

// A program that is gone is concluded once everything it said was read, piece by piece, so that limits are kept
// meanwhile.
bool ProcessEvaluator::is_over(TrainingProcess& process) {
  const std::optional<Exit> exit = process.look_for_exit(now());
  if (!exit) return false;
  const TrainingProcess::Reports read = process.read(now());
  take_reports(process, read.reports);
  more_to_read_ = more_to_read_ || read.more;
  if (!read.more) conclude(process, *exit);
  return !read.more;
}

void ProcessEvaluator::read_reports(TrainingProcess& process) {
  const TrainingProcess::Reports read = process.read(now());
  more_to_read_ = more_to_read_ || read.more;
  take_reports(process, read.reports);
  if (process.ending() == Ending::none && !process.problem().empty()) fail(process, process.problem());
}

void ProcessEvaluator::take_reports(TrainingProcess& process, const std::vector<TimedReport>& reports) {
  if (!reports.empty()) process.reported(reports.size(), now());
  for (const TimedReport& timed : reports) {
    if (process.reports_ignored()) return;
    const Reading reading = process.account().take(timed.report, timed.at);
    facts_.insert(facts_.end(), reading.facts.begin(), reading.facts.end());
    close_segment_if_done(process.trial(), process.account().last_epoch());
    if (reading.kind == Reading::Kind::beyond) {
      process.note("the last epoch that the budget can pay for was reported before; what follows is not recorded");
      process.ignore_reports();
      if (process.ending() == Ending::none) process.end(Ending::released, spec_.effective_grace(), now());
    } else if (reading.kind == Reading::Kind::failure) {
      fail(process, reading.message);
    }
  }
}

void ProcessEvaluator::close_segment_if_done(TrialId trial, Epoch last) {
  const auto segment = open_.find(trial);
  if (segment == open_.end() || last < segment->second.until) return;
  open_.erase(segment);
  facts_.emplace_back(SegmentDone{.trial = trial});
  TrainingProcess* process = process_of(trial);
  const bool hold = options_.at_segment_end == ProcessEvaluatorOptions::AtSegmentEnd::hold;
  if (hold && process && process->ending() == Ending::none) process->hold();
}

// A process that has come as far as it was told has done its duty: what goes wrong later is for its successor to
// repeat, if the trial goes on at all.
void ProcessEvaluator::fail(TrainingProcess& process, const std::string& why) {
  process.ignore_reports();
  if (process.ending() != Ending::none) return;
  if (open_.contains(process.trial()) && process.account().last_epoch() < process.told_until()) {
    facts_.emplace_back(TrialFailed{.trial = process.trial(), .message = failure_text(why, process.last_output())});
    open_.erase(process.trial());
  }
  process.note(why);
  process.end(Ending::failed, spec_.effective_grace(), now());
}

void ProcessEvaluator::keep_limits(TrainingProcess& process) {
  if (process.ending() == Ending::none && process.silent_for(spec_.report_timeout, now())) {
    fail(process, silence_text(spec_.report_timeout));
  }
  process.keep_limits(now());
}

void ProcessEvaluator::conclude(TrainingProcess& process, const Exit& exit) {
  take_reports(process, process.read_rest(now()));
  if (process.ending() == Ending::none && !process.problem().empty()) fail(process, process.problem());
  if (process.ending() == Ending::none && out_of_time()) process.ended_by_guardian();
  const TrialId trial = process.trial();
  const bool by_itself = process.ending() == Ending::none;
  const bool failed = process.ending() == Ending::failed || (by_itself && !exit.in_order());
  const OverheadKind rest = failed ? OverheadKind::failed : OverheadKind::grace;
  for (const Event& fact : process.account().close(rest, process.gone_at().value_or(now()))) facts_.push_back(fact);
  obsolete_.push_back(process.dir().process());

  const Epoch last = process.account().last_epoch();
  if (by_itself && open_.contains(trial) && last < process.told_until()) {
    facts_.push_back(early_end(process, exit, last));
    open_.erase(trial);
  }
  if (by_itself && failed) process.note(crash_text(exit, last));
  const auto segment = open_.find(trial);
  if (segment == open_.end()) return;
  segment->second.from = last;  // where the next process begins
  segment->second.spent = process.account().spent();
  if (std::find(queue_.begin(), queue_.end(), trial) != queue_.end()) return;
  if (process.ending() == Ending::released) {
    open_.erase(segment);
  } else {
    queue_.push_front(trial);  // it has come as far as it was told, but the trial goes on
  }
}

// What it means that a program ended by itself before the epoch it was told to reach.
Event ProcessEvaluator::early_end(const TrainingProcess& process, const Exit& exit, Epoch last) const {
  if (exit.in_order() && last > 0) return ProgramEnded{.trial = process.trial()};
  const std::string what = exit.in_order() ? no_report_text(spec_.metric.name) : crash_text(exit, last);
  return TrialFailed{.trial = process.trial(), .message = failure_text(what, process.last_output())};
}

Cost ProcessEvaluator::accrued() const {
  if (spec_.budget.meter != Meter::seconds) return 0.0;
  double seconds = 0.0;
  for (const auto& process : processes_) {
    seconds += std::max(0.0, process->gone_at().value_or(now()) - process->account().charged_until());
  }
  return spec_.budget.of_seconds(seconds);
}

Cost ProcessEvaluator::accrual_rate() const {
  if (spec_.budget.meter != Meter::seconds) return 0.0;
  const auto running =
      std::count_if(processes_.begin(), processes_.end(), [](const auto& process) { return !process->gone_at(); });
  return spec_.budget.of_seconds(static_cast<double>(running));
}

// The facts of the last `wait` are in the log: the files that would bring them back are not needed any more. Not while
// facts are waiting to be handed out.
void ProcessEvaluator::forget_recorded() {
  if (!facts_.empty()) return;
  std::error_code ignored;
  for (const std::filesystem::path& file : obsolete_) std::filesystem::remove(file, ignored);
  obsolete_.clear();
}

double ProcessEvaluator::next_deadline() const {
  double next = std::numeric_limits<double>::infinity();
  for (const auto& process : processes_) next = std::min(next, process->next_deadline(spec_.report_timeout));
  if (!changes_ && !processes_.empty()) next = std::min(next, last_look_ + kLookEvery);
  if (short_since_) next = std::min(next, try_again_at_);
  return more_to_read_ ? last_look_ : next;
}

// Whether it may reach the end of its segment, or has, before the next look after a long pause.
bool ProcessEvaluator::ends_segment_soon(const TrainingProcess& process) const {
  const auto segment = open_.find(process.trial());
  if (segment == open_.end()) return true;
  const Epoch epochs_to_go = segment->second.until - process.account().last_epoch();
  return epochs_to_go * process.seconds_per_report() < 2.0 * kGatheringPause;
}

double ProcessEvaluator::pause() const {
  const bool soon = std::any_of(
      processes_.begin(), processes_.end(), [&](const auto& process) { return ends_segment_soon(*process); });
  return soon ? kPause : kGatheringPause;
}

// Wakes up when a program ends, or, after the pause, when a file has grown.
void ProcessEvaluator::sleep_until(double instant) {
  std::vector<pollfd> events;
  for (const auto& process : processes_) {
    if (process->descriptor() >= 0) events.push_back({.fd = process->descriptor(), .events = POLLIN, .revents = 0});
  }
  const auto sleep = [&](double seconds) {
    return ::poll(events.data(), events.size(), static_cast<int>(std::ceil(1e3 * std::clamp(seconds, 0.0, 3600.0)))) >
           0;
  };
  const double pause_left = std::min(instant, last_look_ + pause()) - now();
  if (pause_left > 0.0 && sleep(pause_left)) return;
  if (changes_) events.push_back({.fd = changes_.get(), .events = POLLIN, .revents = 0});
  sleep(instant - now());
  std::array<char, 4096> ignored;
  while (changes_ && ::read(changes_.get(), ignored.data(), ignored.size()) > std::ssize(ignored) / 2) {
  }
}

std::vector<Event> ProcessEvaluator::recover(const History& history) {
  check(processes_.empty() && queue_.empty(), "ProcessEvaluator: recover comes before start");
  std::vector<Event> facts;
  for (const Trial& trial : history.trials()) {
    const TrialDir dir = dir_.trial(trial.id);
    if (!std::filesystem::exists(dir.process())) continue;
    const std::vector<Event> found = recover_process(spec_, trial, dir);
    facts.insert(facts.end(), found.begin(), found.end());
    obsolete_.push_back(dir.process());
  }
  return facts;
}

}  // namespace bapi
