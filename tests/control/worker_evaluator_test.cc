#include "bapi/control/worker_evaluator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/control/ask_tell.h"
#include "bapi/control/tune.h"
#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "tests/conformance/evaluator_contract.h"
#include "tests/support/scripted_workers.h"

namespace bapi {
namespace worker_evaluator_test {

using test::ScriptedWorkers;
using Kind = WorkerAnswer::Kind;

StudySpec spec_in(Meter meter, Cost limit = 1000.0) {
  StudySpec spec;
  spec.name = "workers";
  spec.budget = {.limit = limit, .unit = "u", .meter = meter};
  spec.epochs = {.min = 1, .max = kContractEpochs};
  spec.workers = 2;
  spec.grace = 0.5;
  return spec;
}

// ---- The laws of every evaluator.

class WorkerLab : public EvaluatorKind::Lab {
 public:
  explicit WorkerLab(Meter meter) : pool_(clock_, {.report = report}), evaluator_(spec_in(meter), pool_, clock_) {}

  Evaluator& evaluator() override { return evaluator_; }
  Config config(Plan plan) const override { return {{static_cast<double>(plan)}}; }

 private:
  static std::optional<WorkerReport> report(const Segment& segment, Epoch epoch) {
    const auto plan = static_cast<Plan>(std::get<double>(segment.config.values[0]));
    if (epoch > (plan == Plan::ends ? 4 : kContractEpochs)) return std::nullopt;
    const bool broken = plan == Plan::diverges && epoch == 3;
    return WorkerReport{.epoch = epoch,
                        .value = broken ? std::numeric_limits<double>::quiet_NaN() : 0.1 * epoch,
                        .cost = segment.budget_left > 0.0 ? std::optional<Cost>(0.5) : std::nullopt};
  }

  ManualClock clock_{100.0};
  ScriptedWorkers pool_;
  WorkerEvaluator evaluator_;
};

INSTANTIATE_TEST_SUITE_P(
    Workers,
    EvaluatorContract,
    testing::Values(EvaluatorKind{"worker_counted", [] { return std::make_unique<WorkerLab>(Meter::epochs); }},
                    EvaluatorKind{"worker_timed", [] { return std::make_unique<WorkerLab>(Meter::accrued); }},
                    EvaluatorKind{"worker_reported", [] { return std::make_unique<WorkerLab>(Meter::reported); }}),
    [](const auto& kind) { return kind.param.name; });

// ---- What is special about workers.

class Workers : public testing::Test {
 protected:
  void open(Meter meter, ScriptedWorkers::Script script) {
    if (!script.report)
      script.report = [](const Segment&, Epoch epoch) { return WorkerReport{epoch, 0.1 * epoch, {}}; };
    pool_.emplace(clock_, std::move(script));
    evaluator_.emplace(spec_in(meter), *pool_, clock_);
  }

  static Segment segment(Epoch from, Epoch until) {
    return {.trial = TrialId{0}, .config = {{0.5}}, .from = from, .until = until, .max_epoch = kContractEpochs};
  }

  std::vector<Event> drain() {
    std::vector<Event> all;
    for (int i = 0; i < 100 && !evaluator_->live().empty(); ++i) {
      for (const Event& fact : evaluator_->wait(0.1)) all.push_back(fact);
    }
    return all;
  }

  ManualClock clock_{100.0};
  std::optional<ScriptedWorkers> pool_;
  std::optional<WorkerEvaluator> evaluator_;
};

TEST_F(Workers, AReportIsAnsweredOnlyWhenItIsRecorded) {
  open(Meter::epochs, {});
  evaluator_->start(segment(0, 2));
  ASSERT_EQ(evaluator_->wait(1.0).size(), 1u);
  EXPECT_TRUE(pool_->answers.empty());
  ASSERT_EQ(evaluator_->wait(1.0).size(), 2u) << "the second epoch, and the end of the segment";
  EXPECT_EQ(pool_->answers.size(), 1u);
}

TEST_F(Workers, AtTheEndOfASegmentNothingIsTrainedUntilItIsDecided) {
  open(Meter::epochs, {});
  evaluator_->start(segment(0, 1));
  evaluator_->wait(1.0);
  EXPECT_TRUE(evaluator_->wait(10.0).empty());
  evaluator_->start(segment(1, 2));
  EXPECT_EQ(evaluator_->wait(1.0), (std::vector<Event>{Measured{TrialId{0}, {2, 0.2, 1.0}}, SegmentDone{TrialId{0}}}));
}

// A leader that does not know whether its order was written writes it again.
TEST_F(Workers, ASegmentThatIsOrderedAgainChangesNothing) {
  open(Meter::epochs, {});
  evaluator_->start(segment(0, 3));
  evaluator_->wait(1.0);
  evaluator_->start(segment(1, 3));
  EXPECT_EQ(evaluator_->wait(1.0), (std::vector<Event>{Measured{TrialId{0}, {2, 0.2, 1.0}}}));
  EXPECT_EQ(evaluator_->wait(1.0),
            (std::vector<Event>{Measured{TrialId{0}, {3, 0.1 * 3, 1.0}}, SegmentDone{TrialId{0}}}));
  evaluator_->start(segment(3, 3));
  EXPECT_EQ(evaluator_->wait(1.0), (std::vector<Event>{SegmentDone{TrialId{0}}})) << "its end may not have been heard";
  evaluator_->start(segment(3, 4));
  EXPECT_EQ(evaluator_->wait(1.0), (std::vector<Event>{Measured{TrialId{0}, {4, 0.4, 1.0}}, SegmentDone{TrialId{0}}}));
}

TEST_F(Workers, TheTimeOfADecisionIsStartUpNotTraining) {
  open(Meter::accrued, {.seconds_per_epoch = 2.0});
  evaluator_->start(segment(0, 1));
  evaluator_->wait(5.0);
  clock_.advance(3.0);
  evaluator_->start(segment(1, 2));
  std::vector<Event> facts = evaluator_->wait(5.0);
  for (const Event& fact : evaluator_->wait(5.0)) facts.push_back(fact);
  EXPECT_EQ(facts,
            (std::vector<Event>{Overhead{TrialId{0}, OverheadKind::start_up, 2, 3.0},
                                Measured{TrialId{0}, {2, 0.2, 2.0}},
                                SegmentDone{TrialId{0}}}));
}

TEST_F(Workers, StatedCostsAreRecordedToTheLastBit) {
  open(Meter::accrued, {.report = [](const Segment&, Epoch epoch) { return WorkerReport{epoch, 0.5, 0.1}; }});
  clock_.set(1.7e9);
  Segment resumed = segment(3, 4);
  resumed.usual_epoch = 1e-3;
  evaluator_->start(resumed);
  const std::vector<Event> facts = evaluator_->wait(5.0);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0], Event(Measured{TrialId{0}, {4, 0.5, 0.1}}));
}

TEST_F(Workers, AReleasedWorkerMayReachItsNextReportWithinTheGracePeriod) {
  open(Meter::epochs, {.seconds_per_epoch = 0.3});
  evaluator_->start(segment(0, 9));
  evaluator_->wait(0.1);
  evaluator_->release(TrialId{0});
  EXPECT_EQ(drain(), (std::vector<Event>{Measured{TrialId{0}, {1, 0.1, 1.0}}}));
  EXPECT_EQ(pool_->answers.back().second, Kind::pause);
  EXPECT_EQ(pool_->kills, 0);
}

TEST_F(Workers, OneThatDoesNotIsKilledAndFailsNothing) {
  open(Meter::accrued, {.seconds_per_epoch = 100.0});
  evaluator_->start(segment(0, 9));
  evaluator_->wait(0.1);
  evaluator_->release(TrialId{0});
  const std::vector<Event> facts = drain();
  EXPECT_EQ(pool_->kills, 1);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(std::get<Overhead>(facts[0]).kind, OverheadKind::unfinished);
  EXPECT_NEAR(std::get<Overhead>(facts[0]).cost, 0.1, 1e-9);
  EXPECT_EQ(std::get<Overhead>(facts[1]).kind, OverheadKind::grace);
  EXPECT_NEAR(std::get<Overhead>(facts[1]).cost, 0.5, 1e-9);
}

TEST_F(Workers, AFunctionThatTrainsOnAfterPauseLosesItsWorker) {
  open(Meter::epochs, {.obeys = false});
  evaluator_->start(segment(0, 1));
  evaluator_->wait(1.0);
  evaluator_->release(TrialId{0});
  EXPECT_TRUE(drain().empty());
  EXPECT_EQ(pool_->kills, 1);
}

TEST_F(Workers, AWorkerThatDiesFailsItsTrial) {
  open(Meter::epochs, {.seconds_per_epoch = 100.0});
  evaluator_->start(segment(0, 9));
  evaluator_->wait(0.1);
  pool_->die(TrialId{0}, "the worker process ended with exit code 3");
  EXPECT_EQ(drain(),
            (std::vector<Event>{
                TrialFailed{TrialId{0}, "the worker process ended with exit code 3", FailureCause::crashed}}));
}

TEST_F(Workers, AWorkerThatIsLostInterruptsItsTrialAndWhatItTrainedIsUnfinished) {
  open(Meter::accrued, {.seconds_per_epoch = 100.0});
  evaluator_->start(segment(0, 9));
  evaluator_->wait(2.0);
  pool_->lose(TrialId{0}, "its node has died");
  EXPECT_EQ(evaluator_->wait(1.0),
            (std::vector<Event>{Overhead{TrialId{0}, OverheadKind::unfinished, 1, 2.0},
                                Interrupted{TrialId{0}, "its node has died"}}));
  EXPECT_EQ(evaluator_->live(), std::vector<TrialId>{TrialId{0}});
  const std::vector<Event> next = evaluator_->wait(200.0);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0], Event(Measured{TrialId{0}, {1, 0.1, 100.0}})) << "another one trains the segment";
}

TEST_F(Workers, OneThatIsLostBetweenTwoSegmentsCostsNothingButTime) {
  open(Meter::epochs, {});
  evaluator_->start(segment(0, 1));
  ASSERT_EQ(evaluator_->wait(1.0).size(), 2u);
  pool_->lose(TrialId{0}, "its node has died");
  EXPECT_TRUE(evaluator_->wait(0.0).empty());
  evaluator_->start(segment(1, 2));
  EXPECT_EQ(evaluator_->wait(1.0), (std::vector<Event>{Measured{TrialId{0}, {2, 0.2, 1.0}}, SegmentDone{TrialId{0}}}));
}

TEST_F(Workers, WaitingForAMachineCostsNothing) {
  open(Meter::accrued, {.seconds_per_epoch = 2.0, .seconds_to_place = 1000.0});
  evaluator_->start(segment(0, 1));
  EXPECT_TRUE(evaluator_->wait(500.0).empty());
  EXPECT_EQ(evaluator_->running().accrued, 0.0);
  EXPECT_EQ(evaluator_->running().rate, 0.0);
  EXPECT_EQ(evaluator_->wait(2000.0),
            (std::vector<Event>{Measured{TrialId{0}, {1, 0.1, 2.0}}, SegmentDone{TrialId{0}}}));
}

TEST_F(Workers, OneThatWaitsForAMachineIsEndedAtOnceAndCostsNothing) {
  open(Meter::accrued, {.seconds_to_place = 1000.0});
  evaluator_->start(segment(0, 1));
  evaluator_->wait(10.0);
  evaluator_->release(TrialId{0});
  EXPECT_TRUE(evaluator_->wait(0.1).empty());
  EXPECT_EQ(pool_->kills, 1);
  EXPECT_TRUE(evaluator_->live().empty());
}

TEST_F(Workers, AReportThatCannotFollowFailsTheTrialAndIsRefused) {
  open(Meter::epochs, {.report = [](const Segment&, Epoch epoch) { return WorkerReport{epoch + 1, 0.5, {}}; }});
  evaluator_->start(segment(0, 9));
  const std::vector<Event> facts = drain();
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_NE(std::get<TrialFailed>(facts[0]).message.find("where epoch 1 was expected"), std::string::npos);
  EXPECT_EQ(pool_->answers.back().second, Kind::refused);
}

// ---- A study whose machines are lost.

// Loses a worker after every `every` epochs.
class UnreliableWorkers : public ScriptedWorkers {
 public:
  UnreliableWorkers(ManualClock& clock, const Script& script, int every)
      : ScriptedWorkers(clock, script), every_(every) {}

  void answer(TrialId trial, const WorkerAnswer& answer) override {
    if (++answered_ % every_ == 0) return lose(trial, "its node has died");
    ScriptedWorkers::answer(trial, answer);
  }

 private:
  int every_;
  int answered_ = 0;
};

TEST(LostWorkers, TheirSegmentsArePutBackAndNoTrialFails) {
  StudySpec spec = spec_in(Meter::epochs, 90.0);
  spec.policy = {.name = "hyperband"};
  spec.retries = 0;
  MemoryStore store(spec);
  ManualClock clock(100.0);
  const auto policy = make_policy(spec.policy);
  Session session(store, *policy, clock);
  UnreliableWorkers pool(clock,
                         {.report =
                              [](const Segment&, Epoch epoch) {
                                return WorkerReport{epoch, 0.1 * epoch, {}};
                              }},
                         4);
  WorkerEvaluator evaluator(spec, pool, clock);
  EXPECT_EQ(tune(session, evaluator, clock, {}).end, TuneEnd::finished);
  EXPECT_EQ(session.history().budget().spent(), 90.0);
  int interrupted = 0;
  for (const StoredEvent& stored : store.events(0)) {
    interrupted += std::holds_alternative<Interrupted>(stored.event);
    EXPECT_FALSE(std::holds_alternative<TrialFailed>(stored.event));
  }
  EXPECT_GT(interrupted, 5);
}

TEST(LostWorkers, ATrialThatLosesEveryWorkerEndsTheRunInsteadOfGoingOnForever) {
  StudySpec spec = spec_in(Meter::epochs, 90.0);
  spec.policy = {.name = "random"};
  spec.workers = 1;
  MemoryStore store(spec);
  ManualClock clock(100.0);
  const auto policy = make_policy(spec.policy);
  Session session(store, *policy, clock);
  class Doomed : public ScriptedWorkers {
   public:
    using ScriptedWorkers::ScriptedWorkers;
    void start(const Segment& segment) override { lose(segment.trial, "out of memory"); }
  } pool(clock, {});
  WorkerEvaluator evaluator(spec, pool, clock);
  const TuneSummary summary = tune(session, evaluator, clock, {});
  EXPECT_EQ(summary.end, TuneEnd::program_failed);
  EXPECT_NE(summary.reason.find("out of memory"), std::string::npos);
  int interrupted = 0;
  for (const StoredEvent& stored : store.events(0)) interrupted += std::holds_alternative<Interrupted>(stored.event);
  EXPECT_EQ(interrupted, kMostLosses + 1);
}

// ---- One loop: whoever trains, the log is the same.

std::optional<WorkerReport> traced(const Segment& segment, Epoch epoch) {
  const auto trial = static_cast<double>(index(segment.trial));
  if (index(segment.trial) % 5 == 3 && epoch == 3) return std::nullopt;  // ends early
  const bool diverges = index(segment.trial) % 7 == 5 && epoch == 2;
  const double value = 1.0 - std::exp(-0.3 * epoch) + 0.1 * std::sin(trial);
  return WorkerReport{.epoch = epoch, .value = diverges ? NAN : value, .cost = 0.5 + 0.25 * (epoch % 3)};
}

std::vector<Event> events_of(const Store& store) {
  std::vector<Event> events;
  for (const StoredEvent& stored : store.events(0)) events.push_back(stored.event);
  return events;
}

std::vector<Event> by_tune(const StudySpec& spec) {
  MemoryStore store(spec);
  ManualClock clock(100.0);
  const auto policy = make_policy(spec.policy);
  Session session(store, *policy, clock);
  ScriptedWorkers pool(clock, {.report = traced, .checkpoint = spec.checkpoint});
  WorkerEvaluator evaluator(spec, pool, clock);
  tune(session, evaluator, clock, {});
  return events_of(store);
}

std::vector<Event> by_asking(const StudySpec& spec) {
  MemoryStore store(spec);
  ManualClock clock(100.0);
  const auto policy = make_policy(spec.policy);
  Session session(store, *policy, clock);
  AskTell loop(session, clock);
  while (const std::optional<Segment> segment = loop.ask()) {
    Advice advice = Advice::go_on;
    Epoch epoch = spec.checkpoint == Checkpoint::kept ? segment->from : 0;
    while (advice == Advice::go_on) {
      const auto report = traced(*segment, ++epoch);
      if (!report) break;
      advice = loop.report(segment->trial, {.epoch = epoch, .value = report->value, .cost = report->cost});
    }
    if (loop.is_handed_out(segment->trial)) loop.complete(segment->trial);
  }
  return events_of(store);
}

TEST(OneLoop, TuneAndAskTellWriteTheSameLog) {
  for (const char* policy : {"random", "hyperband", "asha"}) {
    for (const Meter meter : {Meter::epochs, Meter::reported}) {
      for (const Cost budget : {7.0, 60.0, 200.0}) {
        for (const Checkpoint checkpoint : {Checkpoint::kept, Checkpoint::none}) {
          StudySpec spec = spec_in(meter, budget);
          spec.policy = {.name = policy};
          spec.workers = 1;
          spec.checkpoint = checkpoint;
          EXPECT_EQ(by_tune(spec), by_asking(spec))
              << policy << ", " << budget << (meter == Meter::epochs ? " epochs" : " reported");
        }
      }
    }
  }
}

}  // namespace worker_evaluator_test
}  // namespace bapi
