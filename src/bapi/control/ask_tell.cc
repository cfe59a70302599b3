#include "bapi/control/ask_tell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/study/user_request.h"

namespace bapi {
namespace {

constexpr double kNegligibleSeconds = 1e-3;  // of a report, beside the epoch that it ends

std::string shown(const EpochResult& result) { return fmt::format("of epoch {}, {}", result.epoch, result.value); }

}  // namespace

std::string_view to_string(Advice advice) {
  switch (advice) {
    case Advice::go_on:
      return "continue";
    case Advice::pause:
      return "pause";
    case Advice::stop:
      return "stop";
  }
  return "stop";
}

AskTell::AskTell(Session& session, const Clock& clock)
    : session_(session), clock_(clock), failures_before_(session.history().failures_in_a_row()) {
  if (history().finished()) return;
  for (const Segment& segment : session_.open_segments()) decided_.push_back({.segment = segment});
}

std::optional<Segment> AskTell::ask() {
  attend();
  if (ending_.empty()) ending_ = end_due();
  finish_if_idle();
  if (ended() || asked_to_pause_ || !ending_.empty()) return std::nullopt;
  if (decided_.empty()) decide();
  if (decided_.empty()) return std::nullopt;
  const Decided next = decided_.front();
  decided_.pop_front();
  hand_out(next);
  return next.segment;
}

void AskTell::attend() {
  if (!requests_) return;
  const Attended asked = requests_();
  asked_to_pause_ = asked_to_pause_ || asked.pause;
  for (const TrialId trial : asked.stopped) {
    std::erase_if(decided_, [&](const Decided& decided) { return decided.segment.trial == trial; });
  }
}

// Asks the policy while a worker is free, until there is something to train.
void AskTell::decide() {
  const double begin = clock_.now();
  bool nothing = false;
  while (!nothing && !history().finished() && history().open_segments() < history().spec().workers) {
    std::visit(Match{[&](const Segment& segment) {
                       decided_.push_back({.segment = segment, .seconds = clock_.now() - begin});
                       nothing = true;
                     },
                     [](const Stop&) {},
                     [&](const Wait&) { nothing = true; },
                     [](const Finish&) {}},
               session_.ask());
  }
}

void AskTell::hand_out(const Decided& decided) {
  const Segment& segment = decided.segment;
  const StudySpec& spec = history().spec();
  ProcessAccount account(
      spec, ProcessAccount::Opening::of(segment, spec.begins_after(segment.from), clock_.now() - decided.seconds));
  account.raise_max_epoch(spec.epochs.max);
  std::vector<Event> decision_time = account.close(OverheadKind::start_up, clock_.now());
  handed_out_.emplace(segment.trial, HandedOut{.account = account, .unrecorded = std::move(decision_time)});
}

AskTell::HandedOut& AskTell::handed_out(TrialId trial) {
  const auto found = handed_out_.find(trial);
  require(found != handed_out_.end(),
          fmt::format("trial {} has no segment that is being trained; it ended with \"pause\" or \"stop\", or was "
                      "never handed out: ask for the next one",
                      index(trial)));
  return found->second;
}

void AskTell::require_next(TrialId trial, const EpochResult& result) const {
  const ProcessAccount& account = handed_out_.at(trial).account;
  const Epoch next = account.last_epoch() + 1;
  const Epoch furthest = std::min(account.furthest_report(), std::max(next, history().spec().epochs.max));
  require(result.epoch >= 1 && result.epoch <= furthest,
          fmt::format("trial {} reported epoch {} where epoch {} was expected; every epoch must be reported, in order",
                      index(trial),
                      result.epoch,
                      next));
  const BudgetSpec& budget = history().spec().budget;
  require(
      result.cost || budget.meter != Meter::reported,
      fmt::format(
          "the report {} has no cost, but the budget is in {}, which bapi cannot measure", shown(result), budget.unit));
  require(!result.cost || is_chargeable(*result.cost),
          fmt::format("the report {} has the cost {}; expected the {} of this epoch, 0 or more and at most {:g}",
                      shown(result),
                      result.cost.value_or(0.0),
                      budget.unit,
                      kLargestCharge));
}

// A cost that the caller states takes the place of the time that has passed.
Reading AskTell::take(ProcessAccount& account, TrialId trial, const EpochResult& result) {
  const EpochReport report{.epoch = result.epoch,
                           .value = result.value,
                           .cost = result.cost,
                           .others = result.others,
                           .text = fmt::format("of trial {} {}", index(trial), shown(result))};
  if (!result.cost) return account.take(report, clock_.now());
  return account.take_epoch(report, StatedCost{.cost = *result.cost, .until = clock_.now()});
}

Advice AskTell::report(TrialId trial, const EpochResult& result) {
  auto& [account, unrecorded, waits_for_place] = handed_out(trial);
  require_next(trial, result);
  waits_for_place = false;
  const Reading reading = take(account, trial, result);
  unrecorded.insert(unrecorded.end(), reading.facts.begin(), reading.facts.end());
  if (reading.kind == Reading::Kind::failure) {
    fail(trial, reading.message, reading.cause);
    return Advice::stop;
  }
  const std::optional<OpenSegment>& segment = history().trial(trial).segment;  // none if the user has stopped the trial
  if (segment && account.last_epoch() >= segment->until) unrecorded.emplace_back(SegmentDone{.trial = trial});
  session_.record(unrecorded);
  unrecorded.clear();
  if (!reading.facts.empty() && std::holds_alternative<Measured>(reading.facts.back())) save_model(trial, result);
  attend();
  failures_before_ = std::min(failures_before_, history().failures_in_a_row());
  // The session leaves out what the budget cannot pay.
  const bool paid = history().trial(trial).curve.last_epoch() == account.last_epoch();
  if (ending_.empty()) ending_ = paid ? end_due() : kBudgetSpent;
  const Advice advice = advise(trial);
  if (advice != Advice::go_on) return advice;                         // the account is closed and gone
  if (clock_.now() - account.charged_until() > kNegligibleSeconds) {  // that the decision took
    unrecorded = account.close(OverheadKind::start_up, clock_.now());
  }
  return advice;
}

void AskTell::save_model(TrialId trial, const EpochResult& result) {
  if (!save_model_) return;
  save_model_(trial, result);
  ProcessAccount& account = handed_out(trial).account;
  if (result.cost || clock_.now() - account.charged_until() <= kNegligibleSeconds) return;
  session_.record(account.close(OverheadKind::snapshot, clock_.now()));
}

Advice AskTell::advise(TrialId trial) {
  if (history().trial(trial).state == TrialState::completed || !ending_.empty()) return end_here(trial);
  if (asked_to_pause_) return pause_here(trial);
  if (!history().trial(trial).segment && !chosen_again(trial)) {
    const bool over = history().finished() || history().trial(trial).state == TrialState::stopped;
    handed_out_.erase(trial);
    return over ? Advice::stop : Advice::pause;
  }
  if (next_epoch_fits(history(), history().trial(trial), running())) return Advice::go_on;
  ending_ = kNextEpochDoesNotFit;
  return end_here(trial);
}

Advice AskTell::pause_here(TrialId trial) {
  const bool over = history().trial(trial).state == TrialState::stopped;
  if (history().trial(trial).segment) {
    interrupt(trial, "paused by the user");
  } else {
    handed_out_.erase(trial);
  }
  return over ? Advice::stop : Advice::pause;
}

Advice AskTell::end_here(TrialId trial) {
  if (history().trial(trial).segment) {
    session_.record(std::vector<Event>{Interrupted{.trial = trial, .reason = ending_}});
  }
  handed_out_.erase(trial);
  finish_if_idle();
  return Advice::stop;
}

// The decision is taken now: a trial that is chosen again goes on, without being loaded anew.
bool AskTell::chosen_again(TrialId trial) {
  decide();
  const auto again = std::find_if(
      decided_.begin(), decided_.end(), [&](const Decided& decided) { return decided.segment.trial == trial; });
  if (again == decided_.end()) return false;
  decided_.erase(again);
  return true;
}

void AskTell::charge(TrialId trial, Cost cost) {
  HandedOut& training = handed_out(trial);
  require(is_chargeable(cost),
          fmt::format("a charge of {}; expected a cost of 0 or more and at most {:g}", cost, kLargestCharge));
  if (cost == 0.0) return;
  training.unrecorded.emplace_back(Overhead{
      .trial = trial, .kind = OverheadKind::start_up, .epoch = training.account.last_epoch() + 1, .cost = cost});
}

void AskTell::wait_for_place(TrialId trial) { handed_out(trial).waits_for_place = true; }

void AskTell::placed(TrialId trial) {
  HandedOut& training = handed_out(trial);
  if (std::exchange(training.waits_for_place, false)) training.account.begin_at(clock_.now());
}

void AskTell::name(TrialId trial, const std::string& name) {
  require(index(trial) >= 0 && index(trial) < std::ssize(history().trials()),
          fmt::format("there is no trial {}", index(trial)));
  session_.record(std::vector<Event>{other_name_event(trial, name)});
}

// Charges what the trial took since the last report, and records how it ended.
void AskTell::close(TrialId trial, OverheadKind kind, const Event& end) {
  placed(trial);
  auto& [account, unrecorded, waits_for_place] = handed_out(trial);
  for (const Event& fact : account.close(kind, clock_.now())) unrecorded.push_back(fact);
  // Of a trial that the user has stopped the log has the end already.
  if (history().trial(trial).state != TrialState::stopped) unrecorded.push_back(end);
  session_.record(unrecorded);
  handed_out_.erase(trial);
}

void AskTell::fail(TrialId trial, const std::string& message) { fail(trial, message, FailureCause::other); }

void AskTell::fail(TrialId trial, const std::string& message, FailureCause cause) {
  close(trial, OverheadKind::failed, TrialFailed{.trial = trial, .message = message, .cause = cause});
  finish_if_idle();
}

void AskTell::complete(TrialId trial) {
  if (handed_out(trial).account.last_epoch() == 0) return fail(trial, kNoEpochReported, FailureCause::no_report);
  close(trial, OverheadKind::grace, ProgramEnded{.trial = trial});
  finish_if_idle();
}

void AskTell::put_back(TrialId trial, const std::string& reason) {
  interrupt(trial, reason);
  finish_if_idle();
}

void AskTell::interrupt(TrialId trial, const std::string& reason) {
  close(trial, OverheadKind::unfinished, Interrupted{.trial = trial, .reason = reason});
  for (const Segment& segment : session_.open_segments()) {
    if (segment.trial == trial) decided_.push_front({.segment = segment});
  }
}

void AskTell::pause(const std::string& reason) {
  while (!handed_out_.empty()) interrupt(handed_out_.begin()->first, reason);
  session_.interrupt(reason);
}

void AskTell::finish(const std::string& reason) {
  pause(reason);
  decided_.clear();
  session_.finish(reason);
}

// A limit ends the study once the last trial that is handed out has come back.
void AskTell::finish_if_idle() {
  if (!ending_.empty() && handed_out_.empty() && !history().finished()) finish(ending_);
}

bool AskTell::gave_up() const { return too_many_failures(history(), failures_before_); }

bool AskTell::ended() const { return history().finished() || gave_up(); }

std::string AskTell::end_reason() const {
  if (history().finished()) return history().finish_reason();
  return gave_up() ? failure_advice(history()) : ending_;
}

Running AskTell::running() const {
  RunningSum sum;
  for (const auto& [trial, training] : handed_out_) {
    if (!training.waits_for_place) sum.add_running(training.account.charged_until(), clock_.now());
  }
  return sum.in(history().spec().budget);
}

std::string AskTell::end_due() const {
  return end_due_between_epochs(history(), {.started_at = session_.started_at(), .now = clock_.calendar()})
      .value_or("");
}

}  // namespace bapi
