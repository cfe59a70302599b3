#include "bapi/process/process_evaluator.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "bapi/base/error.h"
#include "bapi/base/file_tree.h"
#include "bapi/control/allowance.h"
#include "bapi/process/ahead.h"
#include "bapi/process/failure_text.h"
#include "bapi/process/gpus.h"
#include "bapi/process/guardian.h"
#include "bapi/process/model_keeper.h"
#include "bapi/process/recovery.h"
#include "bapi/process/short_slices.h"
#include "bapi/process/training_process.h"
#include "bapi/study/direction.h"

namespace bapi {
namespace {

using Ending = TrainingProcess::Ending;

// After a look at files that had grown without a report, so that a program that prints without pause does not keep this
// process busy. A report is looked at as soon as it is there: the model of its epoch may have to be kept.
constexpr double kPause = 0.005;  // seconds

// After a look while nothing waits for a report (`may_gather`): those of fast programs are recorded together.
constexpr double kGatheringPause = 0.05;  // seconds

// For a copy that a program is held for. Limits and other workers wait as long.
constexpr double kWaitForCopy = 0.004;  // seconds

// After the machine had no room for another program.
constexpr double kTryAgainEvery = 1.0;  // seconds

// Where the kernel has no inotify instance left, files are looked at this often.
constexpr double kLookEvery = 0.02;  // seconds

Assignment some_assignment(const StudySpec& spec, const StudyDir& dir) {
  Segment segment;
  segment.config.values.resize(spec.space.params().size());
  return {.segment = segment, .from = 0, .dir = dir.trial(TrialId{0}), .deadline = {}};
}

// Forgets the events that are waiting there.
void drain(const FileDescriptor& inotify) {
  std::array<char, 4096> ignored;
  while (inotify && ::read(inotify.get(), ignored.data(), ignored.size()) > std::ssize(ignored) / 2) {
  }
}

std::string crash_text(const Exit& exit, Epoch last_epoch) {
  return fmt::format("{} {}{}",
                     exit.text(),
                     last_epoch > 0 ? fmt::format("after epoch {}", last_epoch) : "before its first epoch",
                     exit.signal == SIGKILL ? " (out of memory?)" : "");
}

std::string unreadable_checkpoint_text(const Exit& exit, Epoch from) {
  return fmt::format(
      "{} before its first report{}. Its checkpoint was probably incomplete: a program that is ended while it saves "
      "leaves half a file, unless it writes a temporary file and renames it",
      exit.text(),
      from > 0 ? fmt::format(", although it was to continue after epoch {}", from) : "");
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
      gpus_(gpus_of(spec, Machine::this_one())),
      guardian_(std::make_unique<Guardian>(spec.workers, spec.effective_grace())),
      changes_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      saves_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      models_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  require(!spec_.command.empty(), "command: expected the program that trains, as a list of arguments");
  expand_command(spec_, some_assignment(spec_, dir_));
  ask_for_short_slices();
}

ProcessEvaluator::~ProcessEvaluator() { guardian_->end_all(); }

double ProcessEvaluator::now() const { return clock_.now() - guardian_->paused(); }

void ProcessEvaluator::keep_within(const RunLimits& limits) {
  guardian_->set_limits({.training_seconds = limits.training_seconds,
                         .seconds = limits.seconds,
                         .most_training_seconds = limits.most_training_seconds});
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

std::vector<TrialId> ProcessEvaluator::in_use() const {
  std::vector<TrialId> trials = live();
  for (const auto& [trial, keeper] : keepers_) {
    if (!process_of(trial)) trials.push_back(trial);
  }
  return trials;
}

void ProcessEvaluator::start(const Segment& segment) {
  check(segment.until <= segment.max_epoch, "ProcessEvaluator: a segment ends after the last epoch that is paid for");
  forget_recorded();
  open_[segment.trial] = segment;
  TrainingProcess* process = process_of(segment.trial);
  if (process) process->account().continue_from(segment.from, segment.paid, segment.spent);
  if (process && process->ending() == Ending::none) raise_limit(*process, segment.max_epoch);
  if (process) take_reports(*process, process->take_held_back());
  if (process && process->ending() == Ending::none) {
    close_segment_if_done(segment.trial, process->account().last_epoch());
    if (open_.contains(segment.trial)) process->go_on(TrainingProcess::Hold::decision, now());
    return;
  }
  queue_.push_back(segment.trial);  // `wait` begins it
}

// What the process may do now is written down for a later controller. If that fails it is ended, and another one
// continues the trial when the machine has room.
void ProcessEvaluator::raise_limit(TrainingProcess& process, Epoch max_epoch) {
  try {
    process.raise_max_epoch(max_epoch);
  } catch (const Shortage& shortage) {
    process.note(shortage.what());
    process.end(Ending::released, spec_.effective_grace(), now());
  }
}

void ProcessEvaluator::release(TrialId trial) {
  forget_recorded();
  std::erase(queue_, trial);
  TrainingProcess* process = process_of(trial);
  if (!process) {
    open_.erase(trial);
  } else if (process->ending() == Ending::none) {
    process->hold(TrainingProcess::Hold::decision, now());  // so that it begins nothing new
    process->wait_until_stopped();
    const auto doing = is_saving(*process) ? TrainingProcess::Doing::saving : TrainingProcess::Doing::training;
    process->end(Ending::released, spec_.effective_grace(), now(), doing);
  } else if (process->ending() == Ending::failed) {
    open_.erase(trial);  // it shall not be replaced by a new one
  }
}

// A program that is ended between saving an epoch and reporting it leaves half a file, or a gap in the curve. Where
// time is the cost, it must be known to save first: one that reports first would be paid for a further epoch.
bool ProcessEvaluator::is_saving(const TrainingProcess& process) {
  ModelKeeper& keeper = keeper_of(process.trial());
  if (spec_.budget.meter == Meter::accrued && !keeper.saves_first()) return false;
  const auto channel = process.reports_to_file() ? WriteOrder::Channel::file : WriteOrder::Channel::output;
  return keeper.is_between_save_and_report(channel);
}

// It was left to come to its report, and has. A fast one may be saving again before it is stopped.
void ProcessEvaluator::end_between_epochs(TrainingProcess& process) {
  if (!process.may_finish_saving()) return;
  process.hold(TrainingProcess::Hold::decision, now());
  process.wait_until_stopped();
  if (is_saving(process)) {
    process.goes_on_saving(now());
  } else {
    process.has_finished_saving(now());
  }
}

// A process begins only when the facts of the trial's last one have been handed out: its file replaces the other's.
void ProcessEvaluator::fill_slots() {
  if (short_since_ && now() < try_again_at_) return;
  for (auto next = queue_.begin(); next != queue_.end() && facts_.empty();) {
    const TrialId trial = *next;
    if (open_.contains(trial) && !process_of(trial)) take_ahead(trial);
    if (const auto segment = open_.find(trial); segment != open_.end()) {
      const TrainingProcess* process = process_of(trial);
      close_segment_if_done(trial, process ? process->account().last_epoch() : segment->second.from);
    }
    if (!open_.contains(trial)) {
      next = queue_.erase(next);
    } else if (std::ssize(processes_) < spec_.workers && !process_of(trial) && !keepers_.contains(trial)) {
      if (begin(trial) == Begun::later) return;
      next = queue_.erase(next);
    } else {
      ++next;
    }
  }
}

int ProcessEvaluator::free_slot() const {
  const auto taken = [&](int slot) {
    return std::any_of(
        processes_.begin(), processes_.end(), [&](const auto& process) { return process->worker() == slot; });
  };
  int slot = 0;
  while (taken(slot)) ++slot;
  return slot;
}

// What an earlier process has reported past the end of its segment is the beginning of this one.
void ProcessEvaluator::take_ahead(TrialId trial) {
  if (options_.at_segment_end != ProcessEvaluatorOptions::AtSegmentEnd::lockstep) return;
  Segment& segment = open_.at(trial);
  ProcessAccount account(spec_, ProcessAccount::Opening::of(segment, segment.from, 0.0));
  for (const EpochReport& report : reports_ahead(dir_.trial(trial), spec_.metric.name, segment.from)) {
    if (account.last_epoch() >= segment.until) break;
    const Reading reading = account.take(report, 0.0);
    for (const Event& fact : reading.facts) {
      if (const auto* measured = std::get_if<Measured>(&fact)) segment.recent.push_back(measured->measurement.value);
    }
    facts_.insert(facts_.end(), reading.facts.begin(), reading.facts.end());
    if (reading.kind == Reading::Kind::failure) {
      facts_.emplace_back(
          TrialFailed{.trial = trial, .message = failure_text(reading.message, ""), .cause = reading.cause});
      open_.erase(trial);
      return;
    }
  }
  segment.from = account.last_epoch();
  segment.paid = account.paid();
  segment.spent = account.spent();
}

ProcessEvaluator::Begun ProcessEvaluator::begin(TrialId trial) {
  const Segment& segment = open_.at(trial);
  const Epoch done = spec_.begins_after(segment.from);
  const Assignment assignment = {.segment = segment,
                                 .from = options_.continues_after ? options_.continues_after(trial, done)
                                                                  : continue_after(dir_.trial(trial), done),
                                 .dir = dir_.trial(trial),
                                 .deadline = options_.deadline,
                                 .worker = free_slot(),
                                 .gpus = gpus_,
                                 .mark = guardian_->mark()};
  std::variant<std::unique_ptr<TrainingProcess>, TrainingProcess::Refusal> started;
  try {
    started = TrainingProcess::start(
        spec_, assignment, now(), {.reports = changes_.get(), .saves = saves_.get()}, *guardian_, [&] {
          keeper_of(trial).process_begins();
        });
  } catch (const Shortage& shortage) {
    wait_for_the_machine(shortage.what());
    return Begun::later;
  }
  short_since_.reset();
  std::error_code ignored;
  std::filesystem::remove(assignment.dir.ahead(), ignored);  // it is in the log
  if (const auto* why = std::get_if<TrainingProcess::Refusal>(&started)) {
    open_.erase(trial);
    facts_.emplace_back(TrialFailed{.trial = trial, .message = failure_text(why->message, ""), .cause = why->cause});
    append_note(assignment.dir, why->message);
    return Begun::yes;
  }
  processes_.push_back(std::move(std::get<std::unique_ptr<TrainingProcess>>(started)));
  recent_[trial] = segment.recent;
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
  while (true) {
    guardian_->stay_guarded();  // one that was killed during a pause leaves a clock that stands still
    fill_slots();
    pump();
    if (!facts_.empty() || now() >= until) return std::exchange(facts_, {});
    forget_recorded();
    fill_slots();
    sleep_until(std::min(until, next_deadline()));
  }
}

bool ProcessEvaluator::serve() {
  guardian_->stay_guarded();
  if (!is_woken() && now() < next_deadline()) return !facts_.empty();
  drain(changes_);
  fill_slots();
  pump();
  return !facts_.empty();
}

// Whether a file has grown, a program has ended or a copy is made since the last look.
bool ProcessEvaluator::is_woken() const {
  if (!changes_ || !models_ || !queue_.empty()) return true;
  std::vector<pollfd> events = watched();
  events.push_back({.fd = changes_.get(), .events = POLLIN, .revents = 0});
  return ::poll(events.data(), events.size(), 0) != 0;
}

void ProcessEvaluator::pause() { guardian_->pause(); }

void ProcessEvaluator::go_on() { guardian_->go_on(); }

void ProcessEvaluator::pump() {
  last_look_ = now();
  more_to_read_ = false;
  heard_reports_ = false;
  for (const auto& process : processes_) {
    read_reports(*process);
    keep_limits(*process);
  }
  look_after_models();
  remove_ended();
}

// Two passes: what concludes one looks for others among all of them.
void ProcessEvaluator::remove_ended() {
  std::set<const TrainingProcess*> over;
  for (const auto& process : processes_) {
    if (is_over(*process)) over.insert(process.get());
  }
  std::erase_if(processes_, [&](const auto& process) { return over.contains(process.get()); });
}

// A program that is gone is concluded once everything it said was read, piece by piece, so that limits are kept
// meanwhile.
bool ProcessEvaluator::is_over(TrainingProcess& process) {
  const std::optional<Exit> exit = process.look_for_exit(now());
  if (!exit) return false;
  const TrainingProcess::Reports read = process.read(now());
  take_reports(process, read);
  more_to_read_ = more_to_read_ || read.more;
  if (!read.more) conclude(process, *exit);
  return !read.more;
}

void ProcessEvaluator::read_reports(TrainingProcess& process) {
  const TrainingProcess::Reports read = process.read(now());
  more_to_read_ = more_to_read_ || read.more;
  take_reports(process, read);
  if (process.ending() == Ending::none && !process.problem().empty()) {
    fail(process, process.problem(), FailureCause::other);
  }
}

void ProcessEvaluator::take_reports(TrainingProcess& process, const TrainingProcess::Reports& read) {
  if (!read.reports.empty()) process.reported(read.reports.size(), now());
  heard_reports_ = heard_reports_ || !read.reports.empty();
  const Measured* last = nullptr;  // if the last report is a new epoch
  double counted = 0.0;
  Reading reading;
  for (std::size_t i = 0; i < read.reports.size(); ++i) {
    const TimedReport& timed = read.reports[i];
    if (process.reports_ignored()) return;
    if (waits_for_decision(process.trial())) {
      TrainingProcess::Reports rest = read;
      rest.reports.erase(rest.reports.begin(), rest.reports.begin() + static_cast<std::ptrdiff_t>(i));
      process.hold_back(std::move(rest));
      last = nullptr;  // what it had saved for that one is gone
      break;
    }
    const Epoch before = process.account().last_epoch();
    note_epoch_zero(process, timed.report);
    reading = process.account().take(timed.report, timed.at);
    facts_.insert(facts_.end(), reading.facts.begin(), reading.facts.end());
    note_gap(process, before);
    last = reading.facts.empty() ? nullptr : std::get_if<Measured>(&reading.facts.back());
    if (last) counted = counted_report(last->measurement.value, recent_[process.trial()], spec_.metric.smooth);
    close_segment_if_done(process.trial(), process.account().last_epoch());
    if (reading.kind == Reading::Kind::beyond) {
      process.note("the last epoch that the budget can pay for was reported before; what follows is not recorded");
      process.ignore_reports();
      close_segment_past_last_epoch(process.trial(), process.account().last_epoch());
      if (process.ending() == Ending::none) process.end(Ending::released, spec_.effective_grace(), now());
    } else if (reading.kind == Reading::Kind::failure) {
      fail(process, reading.message, reading.cause);
    }
  }
  if (last) keep_best_model(process, {.epoch = last->measurement.epoch, .value = counted}, read);
  if (!read.reports.empty()) end_between_epochs(process);
}

bool ProcessEvaluator::waits_for_decision(TrialId trial) const {
  return options_.at_segment_end == ProcessEvaluatorOptions::AtSegmentEnd::lockstep && !open_.contains(trial);
}

ModelKeeper& ProcessEvaluator::keeper_of(TrialId trial) {
  std::unique_ptr<ModelKeeper>& keeper = keepers_[trial];
  if (!keeper) keeper = std::make_unique<ModelKeeper>(dir_.trial(trial), spec_.metric, clock_, models_.get());
  return *keeper;
}

// Of the last report that was read: what the program had saved for an earlier one may be gone already. Once it is
// stopped, it is heard again, because it may have reported another epoch meanwhile.
void ProcessEvaluator::keep_best_model(TrainingProcess& process,
                                       const Measurement& point,
                                       const TrainingProcess::Reports& read) {
  constexpr auto kSnapshot = TrainingProcess::Hold::snapshot;
  ModelKeeper& keeper = keeper_of(process.trial());
  const bool stands = process.held(TrainingProcess::Hold::decision) || process.ending() != Ending::none;
  const auto best_of =
      is_best_of_study(point.value) || stands ? ModelKeeper::BestOf::study : ModelKeeper::BestOf::trial;
  if (process.ending() == Ending::none && keeper.wants_stop(point.value, best_of)) {
    process.hold(kSnapshot, now());
    process.wait_until_stopped();  // what it is just writing is to be seen, or not to be written
  }
  const TrainingProcess::Reports more = process.has_said_more() ? process.read(now()) : TrainingProcess::Reports{};
  if (more.reports.empty()) {
    keeper.reported({.epoch = point.epoch,
                     .value = point.value,
                     .written_at = read.written_at,
                     .alone = read.reports.size() == 1,
                     .best_of = best_of,
                     .channel = read.to_file ? WriteOrder::Channel::file : WriteOrder::Channel::output});
  } else {
    take_reports(process, more);
  }
  if (!process.held(kSnapshot)) return;
  wait_for_copy(keeper);
  if (!keeper.needs_stopped_program()) go_on_after_copy(process);
}

// As far as this controller has seen.
bool ProcessEvaluator::is_best_of_study(double value) {
  const double here = oriented(value, spec_.metric.goal);
  if (!std::isfinite(here) || here <= best_) return false;
  best_ = here;
  return true;
}

// Most checkpoints are copied sooner than the report can be recorded, for which the program need not stand still.
void ProcessEvaluator::wait_for_copy(ModelKeeper& keeper) {
  const double until = clock_.now() + kWaitForCopy;
  while (models_ && keeper.needs_stopped_program() && clock_.now() < until) {
    pollfd event = {.fd = models_.get(), .events = POLLIN, .revents = 0};
    ::poll(&event, 1, static_cast<int>(std::ceil(1e3 * (until - clock_.now()))));
    forget_copies_made();
    keeper.look();
  }
}

// What the copy took is charged; what the program did between its report and the stop is training.
void ProcessEvaluator::go_on_after_copy(TrainingProcess& process) {
  constexpr auto kSnapshot = TrainingProcess::Hold::snapshot;
  const double until = process.gone_at().value_or(now());
  const double seconds = std::max(0.0, until - process.held_since(kSnapshot));
  keeper_of(process.trial()).was_stopped(seconds);
  const std::vector<Event> charged = process.account().held_for(OverheadKind::snapshot, seconds);
  facts_.insert(facts_.end(), charged.begin(), charged.end());
  process.go_on(kSnapshot, now());
}

void ProcessEvaluator::forget_copies_made() {
  std::uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t none = ::read(models_.get(), &ignored, sizeof ignored);
}

// A program whose model was copied goes on.
void ProcessEvaluator::look_after_models() {
  forget_copies_made();
  for (const auto& [trial, keeper] : keepers_) {
    keeper->look();
    TrainingProcess* process = process_of(trial);
    for (const std::string& note : keeper->take_notes()) {
      if (process) {
        process->note(note);
      } else {
        append_note(dir_.trial(trial), note);
      }
    }
    if (!process || !process->held(TrainingProcess::Hold::snapshot) || keeper->needs_stopped_program()) continue;
    go_on_after_copy(*process);
  }
  std::erase_if(keepers_, [&](const auto& kept) { return !process_of(kept.first) && !kept.second->busy(); });
}

// Once, because a program that counts from 0 does so in every trial.
void ProcessEvaluator::note_epoch_zero(TrainingProcess& process, const ReportLine& report) {
  if (!epoch_zero_.empty()) return;
  const std::optional<std::string> text = epoch_zero_text(report, spec_.metric.name);
  if (!text) return;
  epoch_zero_ = *text;
  process.note(*text);
  if (options_.remark) options_.remark(fmt::format("trial {}: {}", index(process.trial()), *text));
}

void ProcessEvaluator::note_gap(TrainingProcess& process, Epoch before) {
  const Epoch missing = process.account().last_epoch() - before - 1;
  if (missing <= 0) return;
  const std::string epochs = missing == 1 ? fmt::format("epoch {} was", before + 1)
                                          : fmt::format("epochs {} to {} were", before + 1, before + missing);
  process.note(epochs + " trained by an earlier process and not reported: a gap in the curve");
}

// Of a trial whose last epoch was saved by an earlier process and never reported: nothing more is to come.
void ProcessEvaluator::close_segment_past_last_epoch(TrialId trial, Epoch last) {
  if (open_.erase(trial) == 0) return;
  if (last > 0) {
    facts_.emplace_back(ProgramEnded{.trial = trial});
  } else {
    facts_.emplace_back(TrialFailed{
        .trial = trial, .message = failure_text(kNoEpochReported, ""), .cause = FailureCause::wrong_report});
  }
}

void ProcessEvaluator::close_segment_if_done(TrialId trial, Epoch last) {
  const auto segment = open_.find(trial);
  if (segment == open_.end() || last < segment->second.until) return;
  open_.erase(segment);
  facts_.emplace_back(SegmentDone{.trial = trial});
  TrainingProcess* process = process_of(trial);
  const bool hold = options_.at_segment_end != ProcessEvaluatorOptions::AtSegmentEnd::train_on;
  if (hold && process && process->ending() == Ending::none) process->hold(TrainingProcess::Hold::decision, now());
}

// A process that has come as far as it was told has done its duty: what goes wrong later is for its successor to
// repeat, if the trial goes on at all.
void ProcessEvaluator::fail(TrainingProcess& process, const std::string& why, FailureCause cause) {
  process.ignore_reports();
  if (process.ending() != Ending::none) return;
  if (open_.contains(process.trial()) && process.account().last_epoch() < process.told_until()) {
    facts_.emplace_back(
        TrialFailed{.trial = process.trial(), .message = failure_text(why, process.last_output()), .cause = cause});
    open_.erase(process.trial());
  }
  process.note(why);
  process.end(Ending::failed, spec_.effective_grace(), now());
}

void ProcessEvaluator::keep_limits(TrainingProcess& process) {
  if (process.ending() == Ending::none && process.silent_for(spec_.report_timeout, now())) {
    fail(process, silence_text(spec_.report_timeout), FailureCause::silent);
  }
  process.keep_limits(now());
}

void ProcessEvaluator::conclude(TrainingProcess& process, const Exit& exit) {
  take_reports(process, process.read_rest(now()));
  if (process.ending() == Ending::none && !process.problem().empty()) {
    fail(process, process.problem(), FailureCause::other);
  }
  if (process.ending() == Ending::none && out_of_time()) process.ended_by_guardian();
  const TrialId trial = process.trial();
  const bool by_itself = process.ending() == Ending::none;
  const bool failed = process.ending() == Ending::failed || (by_itself && !exit.in_order());
  keeper_of(trial).process_ended(by_itself && exit.in_order());
  const double gone = process.gone_at().value_or(now());
  const auto charge = [&](OverheadKind kind, double until) {
    for (const Event& fact : process.account().close(kind, std::min(until, gone))) facts_.push_back(fact);
  };
  if (!by_itself && !failed) charge(OverheadKind::unfinished, process.terminated_at().value_or(gone));
  charge(failed ? OverheadKind::failed : OverheadKind::grace, gone);
  keep_ahead_reports(process);
  obsolete_.push_back(process.dir().process());

  const Epoch last = process.account().last_epoch();
  if (process.has_reported()) restored_.erase(trial);
  if (by_itself && open_.contains(trial) && exit.in_order() && had_nothing_to_train(open_.at(trial), last)) {
    Segment& segment = open_.at(trial);
    segment.until = std::min(segment.max_epoch, segment.until + segment.most_unreported - kMostUnreported + 1);
    segment.most_unreported = kMostUnreported;
    process.note("ended without a report: its epochs may have been saved before; it is told to train further");
  } else if (by_itself && open_.contains(trial) && last < process.told_until() &&
             !continues_from_snapshot(process, exit)) {
    facts_.push_back(early_end(process, exit, last));
    open_.erase(trial);
  }
  if (by_itself && failed) process.note(crash_text(exit, last));
  if (process.ending() == Ending::failed || (by_itself && exit.in_order())) remove_unreported(process);
  const auto segment = open_.find(trial);
  if (segment == open_.end()) return;
  segment->second.from = last;  // where the next process begins
  segment->second.paid = process.account().paid();
  segment->second.spent = process.account().spent();
  segment->second.continued = true;
  if (std::find(queue_.begin(), queue_.end(), trial) != queue_.end()) return;
  if (process.ending() == Ending::released) {
    open_.erase(segment);
  } else {
    queue_.push_front(trial);  // it has come as far as it was told, but the trial goes on
  }
}

// A program that starts from epoch 1 again says them again.
void ProcessEvaluator::keep_ahead_reports(const TrainingProcess& process) {
  if (spec_.checkpoint != Checkpoint::kept || process.held_back().reports.empty()) return;
  std::vector<ReportLine> reports;
  for (const TimedReport& timed : process.held_back().reports) reports.push_back(timed.report);
  keep_ahead(process.dir(), reports, spec_.metric.name);
}

// A program that ends at BAPI_UNTIL_EPOCH, and whose earlier process has saved that very epoch and not reported it,
// ends at once. With one epoch more to train it says where it stands, or with as many as a process that was lost may
// have saved; if it does not, it has ended for good.
bool ProcessEvaluator::had_nothing_to_train(const Segment& segment, Epoch last) const {
  const bool lost = segment.most_unreported > kMostUnreported;
  return spec_.checkpoint == Checkpoint::kept && segment.continued && last == segment.from &&
         (segment.until == last + 1 || lost) && segment.until < segment.max_epoch;
}

// A program that was to continue and failed before it said anything has probably met a checkpoint that it was killed
// while writing. Once, it may continue from what bapi has kept, or begin anew if the trial has not reported anything.
bool ProcessEvaluator::continues_from_snapshot(TrainingProcess& process, const Exit& exit) {
  if (!process.found_checkpoint() || process.has_reported() || restored_.contains(process.trial())) return false;
  if (process.told_from() == 0) return begins_anew(process, exit);
  if (exit.in_order()) return false;
  const std::optional<Snapshot> snapshot = newest_snapshot(process.dir());
  if (!snapshot || snapshot->label.epoch > process.told_from()) return false;
  if (const std::string trouble = restore_snapshot(process.dir(), *snapshot); !trouble.empty()) {
    process.note(fmt::format("the snapshot of epoch {} could not be restored: {}", snapshot->label.epoch, trouble));
    return false;
  }
  restored_.insert(process.trial());
  process.note(fmt::format("{}; trying once more from the snapshot of epoch {}",
                           unreadable_checkpoint_text(exit, process.told_from()),
                           snapshot->label.epoch));
  return true;
}

// A program whose reports cannot be read, or that makes none, may have saved any number of epochs. Once it is
// corrected, the trial begins with epoch 1 and must not find them.
void ProcessEvaluator::remove_unreported(TrainingProcess& process) {
  if (process.account().last_epoch() > 0) return;
  if (const std::string trouble = remove_tree(process.dir().checkpoint()); !trouble.empty()) {
    process.note(fmt::format("its checkpoint could not be removed: {}", trouble));
  }
}

bool ProcessEvaluator::begins_anew(TrainingProcess& process, const Exit& exit) {
  if (const std::string trouble = remove_tree(process.dir().checkpoint()); !trouble.empty()) {
    process.note(fmt::format("its checkpoint could not be removed: {}", trouble));
    return false;
  }
  restored_.insert(process.trial());
  const std::string what =
      exit.in_order() ? "it ended without a report, perhaps because its checkpoint says that it has trained already"
                      : unreadable_checkpoint_text(exit, 0);
  process.note(fmt::format("{}; trying once more without the files that an earlier process has left", what));
  return true;
}

// What it means that a program ended by itself before the epoch it was told to reach.
Event ProcessEvaluator::early_end(const TrainingProcess& process, const Exit& exit, Epoch last) const {
  if (exit.in_order() && last > 0) return ProgramEnded{.trial = process.trial()};
  const bool silent = process.told_from() > 0 && !process.has_reported();
  const std::string crash = silent ? unreadable_checkpoint_text(exit, process.told_from()) : crash_text(exit, last);
  const std::string silence = epoch_zero_.empty() ? no_report_text(spec_.metric.name) : epoch_zero_;
  const std::string what = exit.in_order() ? silence : crash;
  return TrialFailed{.trial = process.trial(),
                     .message = failure_text(what, process.last_output()),
                     .cause = exit.in_order() ? FailureCause::no_report : FailureCause::crashed};
}

Running ProcessEvaluator::running() const {
  RunningSum sum;
  for (const auto& process : processes_) {
    const double charged = process->account().charged_until();
    if (process->gone_at()) {
      sum.add_ended(charged, *process->gone_at());
    } else {
      sum.add_running(charged, now());
    }
  }
  sum.add_charged(charged_by(facts_));
  return sum.in(spec_.budget);
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
  for (const auto& [trial, keeper] : keepers_) next = std::min(next, keeper->next_look());
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

// Whether nothing waits for a report: no decision, because no segment is about to end and epochs past its end would
// cost nothing extra; no model, because no program has saved one. `saves_` wakes up the one who sleeps when one does.
bool ProcessEvaluator::may_gather() {
  if (options_.at_segment_end != ProcessEvaluatorOptions::AtSegmentEnd::train_on || !saves_) return false;
  drain(saves_);
  return std::ranges::all_of(processes_, [&](const auto& process) {
    return process->ending() == Ending::none && !ends_segment_soon(*process) &&
           keeper_of(process->trial()).still_without_files();
  });
}

// What becomes readable when a program ends or a copy is made.
std::vector<pollfd> ProcessEvaluator::watched() const {
  std::vector<pollfd> events;
  for (const auto& process : processes_) {
    if (process->descriptor() >= 0) events.push_back({.fd = process->descriptor(), .events = POLLIN, .revents = 0});
  }
  if (models_) events.push_back({.fd = models_.get(), .events = POLLIN, .revents = 0});
  return events;
}

// Wakes up when a program ends, or, after the pause, when a file has grown.
void ProcessEvaluator::sleep_until(double instant) {
  std::vector<pollfd> events = watched();
  const auto sleep = [&](double seconds) {
    return ::poll(events.data(), events.size(), static_cast<int>(std::ceil(1e3 * std::clamp(seconds, 0.0, 3600.0)))) >
           0;
  };
  const bool gathers = may_gather();
  const double pause = gathers ? kGatheringPause : woken_by_files_ && !heard_reports_ ? kPause : 0.0;
  const double pause_left = std::min(instant, last_look_ + pause) - now();
  woken_by_files_ = false;
  if (gathers) events.push_back({.fd = saves_.get(), .events = POLLIN, .revents = 0});
  if (pause_left > 0.0 && sleep(pause_left)) return;
  if (changes_) events.push_back({.fd = changes_.get(), .events = POLLIN, .revents = 0});
  woken_by_files_ = sleep(instant - now()) && changes_ && events.back().revents != 0;
  drain(changes_);
}

std::vector<Event> ProcessEvaluator::recover(const History& history) {
  check(processes_.empty() && queue_.empty(), "ProcessEvaluator: recover comes before start");
  const bool lockstep = options_.at_segment_end == ProcessEvaluatorOptions::AtSegmentEnd::lockstep;
  const PastSegment past = lockstep ? PastSegment::kept : PastSegment::recorded;
  std::vector<Event> facts;
  for (const Trial& trial : history.trials()) {
    const TrialDir dir = dir_.trial(trial.id);
    if (!is_anything_at(dir.process())) continue;
    const std::vector<Event> found = recover_process(spec_, trial, dir, past);
    facts.insert(facts.end(), found.begin(), found.end());
    obsolete_.push_back(dir.process());
  }
  return facts;
}

}  // namespace bapi
