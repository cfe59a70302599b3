#include "bapi/control/tune.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/match.h"

namespace bapi {
namespace {

// The loop's hands: what to start, let go and wait for.
class Loop {
 public:
  Loop(Session& session, Evaluator& evaluator, const Clock& clock, const TuneOptions& options)
      : session_(session), evaluator_(evaluator), clock_(clock), options_(options) {}

  TuneSummary run() {
    // Segments that the end of the study broke off stay open until the budget is raised.
    if (history().finished()) return {.end = TuneEnd::finished, .reason = history().finish_reason()};
    for (const Segment& segment : session_.open_segments()) evaluator_.start(segment);
    while (true) {
      if (options_.interrupt && options_.interrupt->load()) return end(TuneEnd::interrupted, "interrupted");
      if (too_many_failures()) return end(TuneEnd::too_many_failures, failure_advice());
      if (const std::string limit = limit_reached(); !limit.empty()) return end(TuneEnd::finished, limit);
      dispatch();
      release_what_was_not_chosen();
      if (session_.history().finished() && evaluator_.live().empty()) {
        return end(TuneEnd::finished, session_.history().finish_reason());
      }
      listen(std::min(options_.tick, seconds_to_limit()));
    }
  }

 private:
  const History& history() const { return session_.history(); }

  // Hands out work while a worker is free.
  void dispatch() {
    bool busy = false;
    while (!busy && !history().finished() && history().open_segments() < history().spec().workers) {
      std::visit(Match{[&](const Segment& segment) { evaluator_.start(segment); },
                       [&](const Stop& stop) { evaluator_.release(stop.trial); },
                       [&](const Wait&) { busy = true; },
                       [](const Finish&) {}},
                 session_.ask());
      observe();
    }
  }

  // Programs that reached the end of their segment train on while the decision is taken; it is taken now.
  void release_what_was_not_chosen() {
    for (const TrialId trial : evaluator_.live()) {
      if (!history().trial(trial).segment) evaluator_.release(trial);
    }
  }

  void listen(double seconds) {
    session_.record(evaluator_.wait(std::max(0.0, seconds)));
    observe();
  }

  // Cost that the grace periods of all processes may still need.
  Cost grace_reserve() const { return evaluator_.accrual_rate() * history().spec().effective_grace(); }

  Cost committed_to_spend() const { return history().budget().spent() + evaluator_.accrued() + grace_reserve(); }

  std::string limit_reached() const {
    if (history().finished()) return "";
    const Budget budget = history().budget();
    if (budget.exhausted()) return "the budget is spent";
    if (evaluator_.accrual_rate() > 0.0 && seconds_to_budget() <= 0.0) return "the budget is spent";
    if (next_epochs_do_not_fit()) return "the next epoch is not expected to fit the budget";
    if (seconds_to_deadline() <= 0.0) return "the deadline is reached";
    return "";
  }

  // Reported units: the epochs in progress cost about what the trial's epochs have cost so far.
  bool next_epochs_do_not_fit() const {
    if (history().spec().budget.meter != Meter::reported) return false;
    Cost next = 0.0;
    for (const Trial& trial : history().trials()) {
      if (trial.segment && !trial.curve.empty()) next += trial.curve.spent() / trial.curve.last_epoch();
    }
    return next > 0.0 && history().budget().spent() + next > history().budget().total() * (1.0 + 1e-9);
  }

  double seconds_to_deadline() const {
    const StudySpec& spec = history().spec();
    if (!spec.deadline) return 1e9;
    return session_.started_at() + *spec.deadline - spec.effective_grace() - clock_.now();
  }

  // Something must be running. A rest that rounding left, too short for a clock to advance by, is none.
  double seconds_to_budget() const {
    const Cost total = history().budget().total();
    const Cost left = total - committed_to_spend();
    return left > 1e-12 * total ? left / evaluator_.accrual_rate() : 0.0;
  }

  double seconds_to_limit() const {
    const double budget = evaluator_.accrual_rate() > 0.0 ? seconds_to_budget() : 1e9;
    return std::max(0.0, std::min(budget, seconds_to_deadline()));
  }

  // Failures of earlier runs do not count: the user has started it again, so something was mended.
  bool too_many_failures() {
    failures_before_ = std::min(failures_before_, history().failures_in_a_row());
    return history().failures_in_a_row() - failures_before_ >= history().spec().max_failures;
  }

  std::string failure_advice() const {
    std::string last;
    for (const Trial& trial : history().trials()) {
      if (trial.state == TrialState::failed) last = trial.failure;
    }
    return fmt::format(
        "{} trials in a row have failed. Mend the command (`bapi doctor` runs it for one epoch), then run the study "
        "again; it goes on from here. The last failure was: {}",
        history().failures_in_a_row(),
        last);
  }

  // Lets every process go, waits until all are gone, and closes the books.
  TuneSummary end(TuneEnd how, const std::string& reason) {
    while (!evaluator_.live().empty()) {
      for (const TrialId trial : evaluator_.live()) evaluator_.release(trial);
      listen(options_.tick);
    }
    std::vector<Event> interrupted;
    for (const Trial& trial : history().trials()) {
      if (trial.segment) interrupted.push_back(Interrupted{.trial = trial.id, .reason = reason});
    }
    session_.record(interrupted);
    if (how == TuneEnd::finished) session_.finish(reason);
    observe();
    return {.end = how, .reason = reason};
  }

  void observe() {
    if (options_.observer) options_.observer(session_, evaluator_);
  }

  Session& session_;
  Evaluator& evaluator_;
  const Clock& clock_;
  const TuneOptions& options_;
  int failures_before_ = session_.history().failures_in_a_row();
};

}  // namespace

TuneSummary tune(Session& session, Evaluator& evaluator, const Clock& clock, const TuneOptions& options) {
  return Loop(session, evaluator, clock, options).run();
}

}  // namespace bapi
