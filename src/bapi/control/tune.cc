#include "bapi/control/tune.h"

#include <algorithm>
#include <limits>

#include "bapi/base/match.h"
#include "bapi/control/allowance.h"

namespace bapi {
namespace {

// What ends a study's programs after their grace period, should this process be held up.
constexpr double kEndSlack = 5.0;  // seconds

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
      if (gives_up()) return end(TuneEnd::too_many_failures, failure_advice(history()));
      if (const auto reason = end_due(history(), running(), time())) return end(TuneEnd::finished, *reason);
      if (evaluator_.out_of_time() && !history().finished()) return end(TuneEnd::finished, passed_limit());
      dispatch();
      if (evaluator_.out_of_time() && !history().finished()) continue;  // the decision took too long
      release_what_was_not_chosen();
      if (session_.history().finished() && evaluator_.live().empty()) {
        return end(TuneEnd::finished, session_.history().finish_reason());
      }
      evaluator_.keep_within(limits());
      record_next_facts(std::min(options_.tick, seconds_to_end(history(), running(), time())));
    }
  }

 private:
  const History& history() const { return session_.history(); }

  // Hands out work while a worker is free.
  void dispatch() {
    bool busy = false;
    while (!busy && !history().finished() && !evaluator_.out_of_time() &&
           history().open_segments() < history().spec().workers) {
      evaluator_.keep_within(limits());  // a decision may take long
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

  void record_next_facts(double seconds) {
    session_.record(evaluator_.wait(std::max(0.0, seconds)));
    evaluator_.recorded();
    observe();
  }

  Running running() const { return {.accrued = evaluator_.accrued(), .rate = evaluator_.accrual_rate()}; }

  StudyTime time() const { return {.started_at = session_.started_at(), .now = clock_.now()}; }

  RunLimits limits() const {
    return {.training_seconds = training_seconds_left(history(), running()),
            .seconds = seconds_to_end(history(), {}, time())};
  }

  std::string passed_limit() const {
    return seconds_to_end(history(), {}, time()) > 0.0 ? kBudgetSpent : kDeadlineReached;
  }

  bool gives_up() {
    failures_before_ = std::min(failures_before_, history().failures_in_a_row());
    return too_many_failures(history(), failures_before_);
  }

  // Lets every process go, waits until all are gone, and closes the accounts.
  TuneSummary end(TuneEnd how, const std::string& reason) {
    evaluator_.keep_within({.training_seconds = std::numeric_limits<double>::infinity(),
                            .seconds = history().spec().effective_grace() + kEndSlack});
    while (!evaluator_.live().empty()) {
      for (const TrialId trial : evaluator_.live()) evaluator_.release(trial);
      record_next_facts(options_.tick);
    }
    session_.interrupt(reason);
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
