#include "bapi/control/ask_tell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

namespace bapi {
namespace {

constexpr double kNever = 1e9;               // seconds
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

AskTell::AskTell(Session& session, const Clock& clock, AskTellOptions options)
    : session_(session), clock_(clock), options_(options), failures_before_(session.history().failures_in_a_row()) {
  if (history().finished()) return;
  for (const Segment& segment : session_.open_segments()) decided_.push_back({.segment = segment});
}

std::optional<Segment> AskTell::ask() {
  if (ending_.empty()) ending_ = limit_reached();
  close_if_idle();
  if (ended() || !ending_.empty()) return std::nullopt;
  if (decided_.empty()) decide();
  if (decided_.empty()) return std::nullopt;
  const Decided next = decided_.front();
  decided_.pop_front();
  hand_out(next);
  return next.segment;
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
  const Trial& trial = history().trial(decided.segment.trial);
  Out& out = out_[trial.id];
  out.progress = progress_of(trial);
  out.account = std::make_unique<ProcessAccount>(
      history().spec(),
      out.progress,
      ProcessAccount::Opening{.trial = trial.id,
                              .from = history().spec().checkpoint == Checkpoint::kept ? decided.segment.from : 0,
                              .max_epoch = history().spec().epochs.max,
                              .charged_until = clock_.now() - decided.seconds});
  out.account->close(OverheadKind::start_up, clock_.now(), out.unrecorded);
}

AskTell::Out& AskTell::out(TrialId trial) {
  const auto found = out_.find(trial);
  require(found != out_.end(),
          fmt::format("trial {} has no segment that is being trained; it ended with \"pause\" or \"stop\", or was "
                      "never handed out: ask for the next one",
                      index(trial)));
  return found->second;
}

void AskTell::require_next(TrialId trial, const EpochResult& result) const {
  const Epoch next = out_.at(trial).progress.last_epoch() + 1;
  require(result.epoch >= 1 && result.epoch <= next,
          fmt::format("trial {} reported epoch {} where epoch {} was expected; every epoch must be reported, in order",
                      index(trial),
                      result.epoch,
                      next));
  const BudgetSpec& budget = history().spec().budget;
  require(
      result.cost || budget.meter != Meter::reported,
      fmt::format(
          "the report {} has no cost, but the budget is in {}, which bapi cannot measure", shown(result), budget.unit));
  require(!result.cost || (std::isfinite(*result.cost) && *result.cost >= 0.0),
          fmt::format("the report {} has the cost {}; expected the {} of this epoch, 0 or more",
                      shown(result),
                      result.cost.value_or(0.0),
                      budget.unit));
}

// A cost that the caller gives takes the place of the time that has passed.
Reading AskTell::take(Out& books, TrialId trial, const EpochResult& result) {
  double at = std::max(books.account->charged_until(), clock_.now() - std::max(0.0, result.waited) - books.shift);
  if (result.cost && history().spec().budget.meter == Meter::seconds) {
    const double priced = books.account->charged_until() + history().spec().budget.to_seconds(*result.cost);
    books.shift += at - priced;
    at = priced;
  }
  const EpochReport report{.epoch = result.epoch,
                           .value = result.value,
                           .cost = result.cost,
                           .text = fmt::format("of trial {} {}", index(trial), shown(result))};
  return books.account->take(report, at, books.unrecorded);
}

Advice AskTell::report(TrialId trial, const EpochResult& result) {
  Out& books = out(trial);
  require_next(trial, result);
  const Reading reading = take(books, trial, result);
  if (reading.kind == Reading::Kind::failure) {
    fail(trial, reading.message);
    return Advice::stop;
  }
  if (books.progress.last_epoch() >= history().trial(trial).segment->until) {
    books.unrecorded.emplace_back(SegmentDone{.trial = trial});
  }
  session_.record(books.unrecorded);
  books.unrecorded.clear();
  failures_before_ = std::min(failures_before_, history().failures_in_a_row());
  // The session leaves out what the budget cannot pay.
  const bool paid = history().trial(trial).curve.last_epoch() == books.progress.last_epoch();
  if (ending_.empty()) ending_ = paid ? limit_reached() : "the budget is spent";
  const Advice advice = advise(trial);
  if (advice != Advice::go_on) return advice;  // the books are closed and gone
  // What the report was under way and the decision took is not the next epoch's.
  const double now = clock_.now() - books.shift;
  if (now - books.account->charged_until() > kNegligibleSeconds) {
    books.account->close(OverheadKind::start_up, now, books.unrecorded);
  }
  return advice;
}

Advice AskTell::advise(TrialId trial) {
  if (history().trial(trial).state == TrialState::completed) return let_go(trial);
  if (!ending_.empty()) return let_go(trial);
  if (!history().trial(trial).segment && !chosen_again(trial)) {
    const bool over = history().finished() || history().trial(trial).state == TrialState::stopped;
    out_.erase(trial);
    return over ? Advice::stop : Advice::pause;
  }
  if (next_epoch_fits(trial)) return Advice::go_on;
  ending_ = "the next epoch is not expected to fit the budget";
  return let_go(trial);
}

Advice AskTell::let_go(TrialId trial) {
  if (history().trial(trial).segment) {
    session_.record(std::vector<Event>{Interrupted{.trial = trial, .reason = ending_}});
  }
  out_.erase(trial);
  close_if_idle();
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
  Out& books = out(trial);
  require(std::isfinite(cost) && cost >= 0.0, fmt::format("a charge of {}; expected a cost of 0 or more", cost));
  if (cost == 0.0) return;
  books.unrecorded.emplace_back(
      Overhead{.trial = trial, .kind = OverheadKind::start_up, .epoch = books.progress.last_epoch() + 1, .cost = cost});
}

void AskTell::ready(TrialId trial) {
  Out& books = out(trial);
  books.account->take(ReadyReport{}, clock_.now() - books.shift, books.unrecorded);
}

// Closes the books of a trial that is out.
void AskTell::take_back(TrialId trial, OverheadKind kind, const Event& end) {
  Out& books = out(trial);
  books.account->close(kind, clock_.now() - books.shift, books.unrecorded);
  books.unrecorded.push_back(end);
  session_.record(books.unrecorded);
  out_.erase(trial);
}

void AskTell::fail(TrialId trial, const std::string& message) {
  take_back(trial, OverheadKind::failed, TrialFailed{.trial = trial, .message = message});
  close_if_idle();
}

void AskTell::complete(TrialId trial) {
  if (out(trial).progress.last_epoch() == 0) {
    return fail(trial, "training ended without having reported an epoch");
  }
  take_back(trial, OverheadKind::grace, ProgramEnded{.trial = trial});
  close_if_idle();
}

void AskTell::put_back(TrialId trial, const std::string& reason) {
  interrupt(trial, reason);
  close_if_idle();
}

void AskTell::interrupt(TrialId trial, const std::string& reason) {
  take_back(trial, OverheadKind::grace, Interrupted{.trial = trial, .reason = reason});
  for (const Segment& segment : session_.open_segments()) {
    if (segment.trial == trial) decided_.push_front({.segment = segment});
  }
}

void AskTell::pause(const std::string& reason) {
  while (!out_.empty()) interrupt(out_.begin()->first, reason);
  std::vector<Event> waiting;
  for (const Decided& decided : decided_) {
    const Trial& trial = history().trial(decided.segment.trial);
    if (trial.state == TrialState::running) waiting.push_back(Interrupted{.trial = trial.id, .reason = reason});
  }
  session_.record(waiting);
}

void AskTell::finish(const std::string& reason) {
  pause(reason);
  decided_.clear();
  session_.finish(reason);
}

// A limit ends the study once the last one that is out has come back.
void AskTell::close_if_idle() {
  if (!ending_.empty() && out_.empty() && !history().finished()) finish(ending_);
}

// Failures of earlier runs do not count: the user has started it again, so something was mended.
bool AskTell::gave_up() const {
  return history().failures_in_a_row() - failures_before_ >= history().spec().max_failures;
}

bool AskTell::ended() const { return history().finished() || gave_up(); }

std::string AskTell::end_reason() const {
  if (history().finished()) return history().finish_reason();
  if (!gave_up()) return ending_;
  std::string last;
  for (const Trial& trial : history().trials()) {
    if (trial.state == TrialState::failed) last = trial.failure;
  }
  return fmt::format(
      "{} trials in a row have failed; mend the training, then run the study again. The last failure "
      "was: {}",
      history().failures_in_a_row(),
      last);
}

// Of everything that is out, since its last report.
Cost AskTell::accrued() const {
  if (history().spec().budget.meter != Meter::seconds) return 0.0;
  double seconds = 0.0;
  for (const auto& [trial, books] : out_) {
    seconds += std::max(0.0, clock_.now() - books.shift - books.account->charged_until());
  }
  return history().spec().budget.of_seconds(seconds);
}

std::string AskTell::limit_reached() const {
  if (history().finished()) return "";
  if (history().budget().exhausted()) return "the budget is spent";
  const auto& deadline = history().spec().deadline;
  if (deadline && clock_.now() >= session_.started_at() + *deadline) return "the deadline is reached";
  return "";
}

// Where the cost of an epoch is known beforehand, segments are shortened; in seconds and reported units the trial's
// epochs so far say what the next one will cost.
bool AskTell::next_epoch_fits(TrialId trial) const {
  const StudySpec& spec = history().spec();
  if (spec.budget.meter == Meter::epochs) return true;
  if (spec.budget.meter == Meter::seconds && options_.cut == AskTellOptions::Cut::any_time) return true;
  const Curve& curve = history().trial(trial).curve;
  if (curve.empty()) return true;
  const Cost left = history().budget().total() - history().budget().spent() - accrued();
  return curve.spent() / curve.last_epoch() <= left * (1.0 + 1e-9);
}

double AskTell::seconds_to_limit() const {
  const StudySpec& spec = history().spec();
  const double grace = options_.cut == AskTellOptions::Cut::any_time ? spec.effective_grace() : 0.0;
  double seconds = kNever;
  if (spec.deadline) seconds = session_.started_at() + *spec.deadline - grace - clock_.now();
  if (spec.budget.meter == Meter::seconds && !out_.empty()) {
    const Cost left = history().budget().total() - history().budget().spent() - accrued();
    seconds = std::min(seconds, spec.budget.to_seconds(left) / static_cast<double>(out_.size()) - grace);
  }
  return std::max(0.0, seconds);
}

}  // namespace bapi
