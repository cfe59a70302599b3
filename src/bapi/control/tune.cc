#include "bapi/control/tune.h"

#include <algorithm>
#include <limits>

#include "bapi/base/match.h"
#include "bapi/control/allowance.h"
#include "bapi/control/failures.h"
#include "bapi/control/thinking.h"

namespace bapi {
namespace {

// What ends a study's programs after their grace period, should this process be held up.
constexpr double kEndSlack = 5.0;  // seconds

// Of deciding without a look at requests and limits in between, however many slots are free.
constexpr double kDecidingTime = 1.0;  // seconds

// Between two looks at what runs while a decision is taken. A model is kept only if its report is seen before the
// program saves again.
constexpr double kGlance = 0.001;  // seconds

class Loop {
 public:
  Loop(Session& session, Evaluator& evaluator, const Clock& clock, const TuneOptions& options)
      : session_(session), evaluator_(evaluator), clock_(clock), options_(options) {}

  TuneSummary run() {
    // Segments that the end of the study broke off stay open until the budget is raised.
    if (history().finished()) return ended_before();
    for (const Segment& segment : session_.open_segments()) evaluator_.start(segment);
    while (true) {
      attend();
      if (look_for_end()) return end(*due_);
      const Handed handed = dispatch();
      if (due_ || passed_while_deciding()) continue;
      if (handed == Handed::more_to_come) {
        record_next_facts(0.0);
        continue;
      }
      release_what_was_not_chosen();
      if (history().finished() && evaluator_.live().empty()) {
        return end({.end = TuneEnd::finished, .reason = history().finish_reason()});
      }
      evaluator_.keep_within(limits());
      record_next_facts(std::min(options_.tick, seconds_to_end(history(), running(), time())));
    }
  }

 private:
  const History& history() const { return session_.history(); }

  // A trial that was stopped ends at once: what it reports meanwhile is the last that is heard of it.
  void attend() {
    if (!options_.attend) return;
    const Attended asked = options_.attend();
    asked_to_pause_ = asked_to_pause_ || asked.pause;
    const std::vector<TrialId> live = evaluator_.live();
    for (const TrialId trial : asked.stopped) {
      if (std::find(live.begin(), live.end(), trial) != live.end()) evaluator_.release(trial);
    }
  }

  // What an earlier leader of the study could not see to the end of is ended first.
  TuneSummary ended_before() {
    const TuneSummary how{.end = TuneEnd::finished, .reason = history().finish_reason()};
    return evaluator_.live().empty() ? how : end(how);
  }

  // Whether the run has to end, and why. What was seen once stays true: the end may cost what was left of the budget.
  bool look_for_end() {
    if (!due_) due_ = end_of_run();
    return due_.has_value();
  }

  std::optional<TuneSummary> end_of_run() {
    if (interrupted()) return TuneSummary{.end = TuneEnd::interrupted, .reason = "interrupted"};
    if (trouble_) return TuneSummary{.end = TuneEnd::program_failed, .reason = *trouble_};
    if (gives_up()) return TuneSummary{.end = TuneEnd::too_many_failures, .reason = failure_advice(history())};
    if (history().finished()) return std::nullopt;
    const auto finished = [](std::string why) {
      return TuneSummary{.end = TuneEnd::finished, .reason = std::move(why)};
    };
    if (const auto reason = end_due(history(), running(), time())) return finished(*reason);
    if (evaluator_.out_of_time()) return finished(passed_limit());
    return std::nullopt;
  }

  bool passed_while_deciding() const { return evaluator_.out_of_time() && !history().finished(); }

  bool interrupted() const { return asked_to_pause_ || (options_.interrupt && options_.interrupt->load()); }

  // Hands out work while a slot is free, for a while.
  enum class Handed { everything, more_to_come };
  Handed dispatch() {
    bool busy = false;
    const double began = clock_.now();
    while (!busy && !history().finished() && !trouble_ && !passed_while_deciding() &&
           history().open_segments() < evaluator_.slots()) {
      if (clock_.now() - began > kDecidingTime) return Handed::more_to_come;
      const std::optional<Action> action = decide();
      if (!action) return Handed::everything;
      std::visit(Match{[&](const Segment& segment) { evaluator_.start(session_.renewed(segment)); },
                       [&](const Stop& stop) { evaluator_.release(stop.trial); },
                       [&](const Wait&) { busy = true; },
                       [](const Finish&) {}},
                 *action);
      observe();
    }
    return Handed::everything;
  }

  // The policy's answer, in the log. nullopt: the run has to end, and nothing was decided.
  std::optional<Action> decide() {
    evaluator_.keep_within(limits());  // a decision may take long
    if (options_.thought == TuneOptions::Thought::in_the_loop) return session_.ask();
    Thinking thinking(session_);
    const bool something_happened = serve_while(thinking);
    std::optional<Action> action;
    if (!due_) action = session_.decided(thinking.take());
    if (something_happened) record_next_facts(0.0);
    return action;
  }

  // True if there is something to be recorded now.
  bool serve_while(const Thinking& thinking) {
    bool something_happened = false;
    for (double shown_at = clock_.now(); !thinking.ready_within(kGlance);) {
      something_happened = evaluator_.serve();
      if (!due_ && look_for_end()) begin_to_end();
      if (clock_.now() - shown_at < options_.tick) continue;
      shown_at = clock_.now();
      observe();
    }
    return something_happened;
  }

  // Programs that reached the end of their segment train on while the decision is taken; it is taken now.
  void release_what_was_not_chosen() {
    for (const TrialId trial : evaluator_.live()) {
      if (!history().trial(trial).segment) evaluator_.release(trial);
    }
  }

  void record_next_facts(double seconds) {
    const std::vector<Event> facts = evaluator_.wait(std::max(0.0, seconds));
    const Judgement judged =
        judge(history(), facts, {.keep_going = options_.keep_going, .being_ended = ending_ || interrupted()});
    session_.record(judged.facts);
    evaluator_.recorded();
    if (judged.ends_run) trouble_ = judged.ends_run;
    for (const TrialId trial : judged.retried) {
      if (!ending_) evaluator_.start(session_.open_segment(trial));
    }
    observe();
  }

  Running running() const { return evaluator_.running(); }

  StudyTime time() const { return {.started_at = session_.started_at(), .now = clock_.calendar()}; }

  RunLimits limits() const {
    return {.training_seconds = training_seconds_left(history(), running()),
            .seconds = seconds_to_end(history(), {}, time()),
            .most_training_seconds = most_training_seconds_left(history(), running())};
  }

  std::string passed_limit() const {
    return seconds_to_end(history(), {}, time()) > 0.0 ? kBudgetSpent : kDeadlineReached;
  }

  bool gives_up() {
    failures_before_ = std::min(failures_before_, history().failures_in_a_row());
    return too_many_failures(history(), failures_before_);
  }

  // Lets every process go.
  void begin_to_end() {
    ending_ = true;
    evaluator_.keep_within({.training_seconds = std::numeric_limits<double>::infinity(),
                            .seconds = history().spec().effective_grace() + kEndSlack,
                            .most_training_seconds = most_training_seconds_left(history(), running())});
    for (const TrialId trial : evaluator_.live()) evaluator_.release(trial);
  }

  // The same; waits until all are gone, and closes the accounts.
  TuneSummary end(const TuneSummary& how) {
    if (how.end == TuneEnd::interrupted && !asked_to_pause_ && evaluator_.outlives_loop()) return how;
    ending_ = true;
    while (!evaluator_.live().empty()) {
      begin_to_end();
      record_next_facts(options_.tick);
    }
    session_.interrupt(how.reason);
    if (how.end == TuneEnd::finished) session_.finish(how.reason);
    observe();
    return how;
  }

  void observe() {
    if (options_.observer) options_.observer(session_, evaluator_);
  }

  Session& session_;
  Evaluator& evaluator_;
  const Clock& clock_;
  const TuneOptions& options_;
  int failures_before_ = session_.history().failures_in_a_row();
  std::optional<std::string> trouble_;  // of the program, for which no trial is to blame
  std::optional<TuneSummary> due_;      // the run has to end
  bool asked_to_pause_ = false;
  bool ending_ = false;  // every process was let go
};

}  // namespace

TuneSummary tune(Session& session, Evaluator& evaluator, const Clock& clock, const TuneOptions& options) {
  return Loop(session, evaluator, clock, options).run();
}

}  // namespace bapi
