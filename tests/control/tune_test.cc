#include "bapi/control/tune.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "bapi/study/codec.h"
#include "bapi/study/replay.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/table_evaluator.h"
#include "tests/support/ledger.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

SimulationSummary run(const CurveTable& table, const std::string& policy, const SimulationOptions& options) {
  const PolicySpec spec{.name = policy};
  return simulate(table, spec, *make_policy(spec), options);
}

// A study of a table in the hands of its caller, tuned as often as one likes.
class TableStudy {
 public:
  TableStudy(const CurveTable& table, const StudySpec& spec) : table_(table), store_(spec) {}

  TuneSummary tune_on() {
    const auto policy = make_policy(store_.spec().policy);
    Session session(store_, *policy, clock_);
    TableEvaluator evaluator(table_, store_.spec(), clock_);
    TuneOptions options;
    options.tick = 1e300;
    return tune(session, evaluator, clock_, options);
  }

  void change_budget(Cost total) {
    store_.append(
        std::ssize(store_.events(0)), std::vector<Event>{BudgetChanged{total}}, clock_.now(), Durability::power);
  }

  History history() const { return replay(store_.spec(), store_.events(0)); }
  double now() const { return clock_.now(); }

 private:
  const CurveTable& table_;
  MemoryStore store_;
  ManualClock clock_;
};

TEST(Tune, SpendsTheWholeBudgetAndNoMore) {
  for (const int workers : {1, 3, 8}) {
    for (const char* policy : {"random", "hyperband"}) {
      const SimulationSummary summary =
          run(test::small_table(200), policy, {.budget = 100.0, .seed = 5, .workers = workers});
      EXPECT_NEAR(summary.spent, 100.0, 1e-9) << policy << " with " << workers;
      EXPECT_EQ(test::ledger_sum(summary.events), summary.spent);
      EXPECT_EQ(summary.end, "the budget is spent");
    }
  }
}

TEST(Tune, SameSeedGivesTheSameLog) {
  const CurveTable table = test::small_table(50);
  EXPECT_EQ(run(table, "hyperband", {.budget = 80.0, .seed = 9, .workers = 3}).events,
            run(table, "hyperband", {.budget = 80.0, .seed = 9, .workers = 3}).events);
  EXPECT_NE(run(table, "hyperband", {.budget = 80.0, .seed = 9}).events,
            run(table, "hyperband", {.budget = 80.0, .seed = 10}).events);
}

TEST(Tune, FinishesWhenEveryConfigurationHasBeenTried) {
  const SimulationSummary summary = run(test::small_table(4), "random", {.budget = 1e6, .seed = 1});
  EXPECT_EQ(summary.trials, 4);
  EXPECT_EQ(summary.end, "every configuration has been tried");
  EXPECT_NEAR(summary.regret, 0.0, 1e-12);
}

TEST(Tune, FailedRunsArePaidForAndTheSearchGoesOn) {
  CurveTable table = test::small_table(10);
  for (std::size_t i = 0; i < 5; ++i) table.runs[i].value[2] = std::numeric_limits<double>::quiet_NaN();
  const SimulationSummary summary = run(table, "random", {.budget = 1e6, .seed = 1});
  EXPECT_EQ(summary.trials, 10);
  int failed = 0;
  for (const StoredEvent& stored : summary.events) failed += std::holds_alternative<TrialFailed>(stored.event) ? 1 : 0;
  EXPECT_EQ(failed, 5);
  EXPECT_EQ(test::ledger_sum(summary.events), summary.spent);
}

CurveTable table_of_failures() {
  CurveTable table = test::small_table(10);
  for (CurveTable::Run& r : table.runs) r.value[0] = std::numeric_limits<double>::quiet_NaN();
  return table;
}

TEST(Tune, TooManyFailuresInARowEndTheStudyWithAdvice) {
  const CurveTable table = table_of_failures();
  StudySpec spec = study_of(table, 1e6, {.name = "random"}, 1, 1);
  spec.max_failures = 3;
  spec.command = {"train"};
  TableStudy study(table, spec);
  const TuneSummary summary = study.tune_on();
  EXPECT_EQ(summary.end, TuneEnd::too_many_failures);
  EXPECT_NE(summary.reason.find("3 trials in a row"), std::string::npos);
  EXPECT_NE(summary.reason.find("bapi doctor"), std::string::npos);
  EXPECT_FALSE(study.history().finished());
}

TEST(Tune, TooManyFailuresOfAFunctionGiveNoAdviceForPrograms) {
  const CurveTable table = table_of_failures();
  StudySpec spec = study_of(table, 1e6, {.name = "random"}, 1, 1);
  spec.max_failures = 3;
  TableStudy study(table, spec);
  const std::string reason = study.tune_on().reason;
  EXPECT_NE(reason.find("Fix the training function"), std::string::npos);
  EXPECT_EQ(reason.find("bapi doctor"), std::string::npos);
}

TEST(Tune, DeadlineEndsTheStudy) {
  const CurveTable table = test::small_table(50);
  StudySpec spec = study_of(table, 1e6, {.name = "random"}, 1, 2);
  spec.deadline = 25.0;
  TableStudy study(table, spec);
  EXPECT_EQ(study.tune_on().reason, "the deadline is reached");
  EXPECT_NEAR(study.now(), 25.0, 1e-9);
  EXPECT_NEAR(study.history().budget().spent(), 50.0, 1e-9);  // two workers
}

TEST(Tune, RaisedBudgetContinuesWhereTheSmallerOneEnded) {
  const CurveTable table = test::small_table(50);
  TableStudy study(table, study_of(table, 60.0, {.name = "hyperband"}, 1, 1));
  study.tune_on();
  EXPECT_NEAR(study.history().budget().spent(), 60.0, 1e-9);
  study.change_budget(100.0);
  study.tune_on();
  EXPECT_NEAR(study.history().budget().spent(), 100.0, 1e-9);
}

TEST(Tune, AMachineThatSleepsPaysNothingAndComesNearerToItsDeadline) {
  const CurveTable table = test::small_table(50);
  const PolicySpec policy_spec{.name = "random"};
  StudySpec spec = study_of(table, 1e6, policy_spec, 1, 1);
  spec.deadline = 25.0;
  MemoryStore store(spec);
  ManualClock clock;
  const auto policy = make_policy(policy_spec);
  Session session(store, *policy, clock);
  TableEvaluator evaluator(table, spec, clock);
  bool slept = false;
  TuneOptions options;
  options.tick = 1.0;
  options.observer = [&](const Session&, const Evaluator&) {
    if (!slept && clock.now() >= 5.0) clock.sleep(3600.0);
    slept = slept || clock.asleep() > 0.0;
  };
  EXPECT_EQ(tune(session, evaluator, clock, options).reason, "the deadline is reached");
  EXPECT_LT(session.history().budget().spent(), 7.0);
  const std::vector<StoredEvent> events = store.events(0);
  EXPECT_GT(events.back().at, 3600.0) << "dates are those of the calendar";
}

// ---- What users ask for.

TEST(Tune, EveryPolicyCopesWithTrialsThatUsersStop) {
  const CurveTable table = test::small_table(30);
  for (const PolicyInfo& info : policies()) {
    for (const int workers : {1, 3}) {
      const PolicySpec policy_spec{.name = info.name};
      MemoryStore store(study_of(table, 60.0, policy_spec, 3, workers));
      ManualClock clock;
      const auto policy = make_policy(policy_spec);
      Session session(store, *policy, clock);
      TableEvaluator evaluator(table, store.spec(), clock);
      TuneOptions options;
      options.tick = 1e300;
      int looks = 0;
      std::set<TrialId> stopped;
      options.attend = [&] {
        Attended asked;
        for (const Trial& trial : session.history().trials()) {
          const StudyRequest stop{.action = RequestAction::stop_trial, .trial = trial.id};
          if (++looks % 7 != 0 || session.history().finished() || objection(stop, session.history())) continue;
          session.stop(trial.id);
          asked.stopped.push_back(trial.id);
          stopped.insert(trial.id);
        }
        return asked;
      };
      const TuneSummary summary = tune(session, evaluator, clock, options);
      EXPECT_EQ(summary.end, TuneEnd::finished) << info.name;
      EXPECT_GE(stopped.size(), 1U) << info.name;
      for (const TrialId trial : stopped) EXPECT_EQ(session.history().trial(trial).state, TrialState::stopped);
    }
  }
}

// ---- A policy that thinks for long.

TEST(Tune, TheLogIsTheSameWhereverThePolicyThinks) {
  const CurveTable table = test::small_table(50);
  for (const char* name : {"random", "hyperband"}) {
    const auto events = [&](TuneOptions::Thought thought) {
      const PolicySpec policy_spec{.name = name};
      MemoryStore store(study_of(table, 80.0, policy_spec, 3, 3));
      ManualClock clock;
      const auto policy = make_policy(policy_spec);
      Session session(store, *policy, clock);
      TableEvaluator evaluator(table, store.spec(), clock);
      TuneOptions options;
      options.tick = 1e300;
      options.thought = thought;
      tune(session, evaluator, clock, options);
      return store.events(0);
    };
    EXPECT_TRUE(events(TuneOptions::Thought::in_the_loop) == events(TuneOptions::Thought::beside_the_loop)) << name;
  }
}

// Trains its trials in no time; whatever is served while a policy thinks is one more epoch of the first one.
class ServedEvaluator : public Evaluator {
 public:
  int slots() const override { return 2; }
  void start(const Segment& segment) override { segments_[segment.trial] = segment; }
  void release(TrialId trial) override {
    segments_.erase(trial);
    released = true;
  }
  std::vector<TrialId> live() const override {
    std::vector<TrialId> trials;
    for (const auto& [trial, segment] : segments_) trials.push_back(trial);
    return trials;
  }
  std::vector<Event> wait(double) override { return std::exchange(kept_, {}); }
  bool serve() override {
    if (!segments_.empty() && epoch_ < 5) {  // the first decision may be served, too, before there is a trial
      kept_.emplace_back(Measured{TrialId{0}, {++epoch_, 0.5, 1.0}});
      ++served;
    }
    return !kept_.empty();
  }
  Running running() const override { return {}; }

  std::atomic<int> served = 0;  // reports
  std::atomic<bool> released = false;

 private:
  std::map<TrialId, Segment> segments_;
  std::vector<Event> kept_;
  Epoch epoch_ = 0;
};

// Its first decision is quick. The second takes until `done`; what the log held meanwhile is noted.
class ThoughtfulPolicy : public Policy {
 public:
  explicit ThoughtfulPolicy(std::function<bool()> done) : done_(std::move(done)) {}
  std::string_view name() const override { return "thoughtful"; }
  Decision ask(const History& history, Rng&) override {
    if (history.decisions() == 0) return Start{.config = {{0.5}}, .until = 5, .why = {.rule = Rule::uniform_draw}};
    if (history.decisions() > 1) return Wait{};
    const std::size_t before = history.trial(TrialId{0}).curve.points().size();
    for (int i = 0; i < 10'000 && !done_(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    changed = history.trial(TrialId{0}).curve.points().size() != before;
    return Start{.config = {{0.7}}, .until = 1, .why = {.rule = Rule::uniform_draw}};
  }
  bool changed = false;

 private:
  std::function<bool()> done_;
};

class Thoughtful : public testing::Test {
 protected:
  static StudySpec spec() {
    StudySpec spec;
    spec.name = "thoughtful";
    spec.budget = {.limit = 1000.0, .unit = "epochs", .meter = Meter::epochs};
    spec.epochs = {.min = 1, .max = 5};
    spec.workers = 2;
    return spec;
  }

  TuneSummary run(ThoughtfulPolicy& policy) {
    Session session(store_, policy, clock_);
    return tune(session,
                evaluator_,
                clock_,
                {.interrupt = &interrupt_,
                 .observer =
                     [&](const Session& now, const Evaluator&) {
                       if (now.history().decisions() > 1) interrupt_ = true;
                     },
                 .tick = 0.01,
                 .thought = TuneOptions::Thought::beside_the_loop});
  }

  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    for (const StoredEvent& stored : store_.events(0)) kinds.emplace_back(kind_of(stored.event));
    return kinds;
  }

  MemoryStore store_{spec()};
  SystemClock clock_;
  ServedEvaluator evaluator_;
  std::atomic<bool> interrupt_ = false;
};

TEST_F(Thoughtful, WhatIsReportedWhileAPolicyThinksIsRecordedAfterItsDecision) {
  ThoughtfulPolicy policy([&] { return evaluator_.served >= 3; });
  run(policy);
  EXPECT_FALSE(policy.changed) << "a decision depends on the log before it alone";
  const std::vector<std::string> log = kinds();
  ASSERT_GE(log.size(), 5u);
  EXPECT_EQ((std::vector<std::string>(log.begin(), log.begin() + 5)),
            (std::vector<std::string>{"started", "started", "measured", "measured", "measured"}));
}

TEST_F(Thoughtful, AnInterruptEndsTrainingWhileThePolicyThinks) {
  ThoughtfulPolicy policy([&] {
    if (evaluator_.served >= 2) interrupt_ = true;
    return evaluator_.released.load();
  });
  EXPECT_EQ(run(policy).end, TuneEnd::interrupted);
  const std::vector<std::string> log = kinds();
  EXPECT_EQ(std::count(log.begin(), log.end(), "started"), 1) << "the decision came too late";
  EXPECT_GE(std::count(log.begin(), log.end(), "measured"), 2) << "what was reported meanwhile is recorded";
}

// Trace T9: two workers, jobs A 4, B 1, C 2, D 3, E 1, controller overhead 0 and 0.5 per start.
TEST(TableEvaluator, SerialControllerQueuesStarts) {
  const std::vector<double> lengths = {4, 1, 2, 3, 1};
  CurveTable table = test::table_of(5, 1, [](double, Epoch) { return 1.0; });
  for (std::size_t i = 0; i < 5; ++i) table.runs[i].cost[0] = lengths[i];
  const auto ends = [&](Cost overhead) {
    ManualClock clock;
    StudySpec spec = study_of(table, 1e6, {.name = "random"}, 1, 2);
    TableEvaluator evaluator(table, spec, clock, {.overhead = [overhead] { return overhead; }});
    std::vector<double> end(5);
    std::size_t next = 0;
    int running = 0;
    const auto fill = [&] {
      for (; running < 2 && next < 5; ++next, ++running) {
        evaluator.start({.trial = TrialId{static_cast<std::int64_t>(next)},
                         .config = table.configs[next],
                         .from = 0,
                         .until = 1,
                         .max_epoch = 1,
                         .budget_left = 0.0});
      }
    };
    fill();
    while (running > 0) {
      for (const Event& fact : evaluator.wait(1e9)) {
        if (const auto* done = std::get_if<SegmentDone>(&fact)) {
          end[static_cast<std::size_t>(index(done->trial))] = clock.now();
          --running;
          evaluator.release(done->trial);
        }
      }
      fill();
    }
    return end;
  };
  EXPECT_EQ(ends(0.0), (std::vector<double>{4, 1, 3, 6, 5}));
  EXPECT_EQ(ends(0.5), (std::vector<double>{4.5, 2, 4.5, 8, 6.5}));
}

TEST(TableEvaluator, ResumedCostsTelescopeToTheCostOfTheWholeRun) {
  const CurveTable table = test::small_table(30, 27);
  const SimulationSummary summary = run(table, "hyperband", {.budget = 700.0, .seed = 2});
  History history(study_of(table, 700.0, {.name = "hyperband"}, 2, 1));
  for (const StoredEvent& stored : summary.events) history.apply(stored.event);
  int completed = 0;
  for (const Trial& trial : history.trials()) {
    if (trial.state != TrialState::completed) continue;
    ++completed;
    const std::vector<double>& cost = table.runs[static_cast<std::size_t>(trial.pool_row)].cost;
    EXPECT_NEAR(trial.spent(), std::accumulate(cost.begin(), cost.end(), 0.0), 1e-9);
  }
  EXPECT_GT(completed, 0);
}

}  // namespace
}  // namespace bapi
