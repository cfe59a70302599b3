#include "bapi/control/ask_tell.h"

#include <gtest/gtest.h>

#include <limits>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "bapi/study/user_request.h"

namespace bapi {
namespace {

StudySpec spec_of(const std::string& policy, const BudgetSpec& budget, Epoch max_epoch = 9) {
  StudySpec spec;
  spec.name = "test";
  spec.budget = budget;
  spec.epochs = {.min = 1, .max = max_epoch};
  spec.policy = {.name = policy};
  return spec;
}

BudgetSpec epochs(Cost limit) { return {.limit = limit, .unit = "epochs", .meter = Meter::epochs}; }
BudgetSpec seconds(Cost limit) { return {.limit = limit}; }

// Takes a second for every decision.
class SlowPolicy : public Policy {
 public:
  SlowPolicy(std::unique_ptr<Policy> policy, ManualClock& clock) : policy_(std::move(policy)), clock_(clock) {}
  std::string_view name() const override { return policy_->name(); }
  Decision ask(const History& history, Rng& rng) override {
    clock_.advance(1.0);
    return policy_->ask(history, rng);
  }

 private:
  std::unique_ptr<Policy> policy_;
  ManualClock& clock_;
};

class AskTellTest : public testing::Test {
 protected:
  AskTell& open(const StudySpec& spec) {
    store_ = std::make_unique<MemoryStore>(spec);
    return reopen();
  }

  // As the next process would.
  AskTell& reopen() {
    policy_ = make_policy(store_->spec().policy);
    return with(*policy_);
  }

  AskTell& with(Policy& policy) {
    session_ = std::make_unique<Session>(*store_, policy, clock_);
    loop_ = std::make_unique<AskTell>(*session_, clock_);
    return *loop_;
  }

  const History& history() const { return session_->history(); }

  // Trains until it is told to end; an epoch takes `cost` seconds. Later trials are better.
  Advice train(const Segment& segment, Cost cost = 1.0) {
    Advice advice = Advice::go_on;
    for (Epoch epoch = segment.from + 1; advice == Advice::go_on; ++epoch) {
      clock_.advance(cost);
      advice = loop_->report(
          segment.trial,
          {.epoch = epoch, .value = 0.5 + 0.01 * epoch + 0.001 * static_cast<double>(index(segment.trial))});
    }
    return advice;
  }

  ManualClock clock_{100.0};
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<AskTell> loop_;
};

TEST_F(AskTellTest, SpendsTheBudgetToTheLastEpochAndEnds) {
  for (const std::string policy : {"random", "hyperband", "asha"}) {
    AskTell& loop = open(spec_of(policy, epochs(100)));
    while (const std::optional<Segment> segment = loop.ask()) train(*segment);
    EXPECT_TRUE(loop.ended()) << policy;
    EXPECT_TRUE(history().finished()) << policy;
    EXPECT_EQ(history().budget().spent(), 100.0) << policy;
  }
}

TEST_F(AskTellTest, SaysPauseAtARungAndStopAtTheLastEpoch) {
  AskTell& loop = open(spec_of("hyperband", epochs(200)));
  int paused = 0;
  int completed = 0;
  while (const std::optional<Segment> segment = loop.ask()) {
    const Advice advice = train(*segment);
    const Trial& trial = history().trial(segment->trial);
    if (advice == Advice::pause) {
      ++paused;
      EXPECT_EQ(trial.state, TrialState::paused);
    } else if (trial.curve.last_epoch() == 9) {
      ++completed;
      EXPECT_EQ(trial.state, TrialState::completed);
    }
  }
  EXPECT_GT(paused, 0);
  EXPECT_GT(completed, 0);
}

TEST_F(AskTellTest, ATrialThatIsChosenAgainGoesOnWithALaterEnd) {
  AskTell& loop = open(spec_of("asha", epochs(300), 27));
  bool grew = false;
  while (const std::optional<Segment> segment = loop.ask()) {
    train(*segment);
    grew = grew || history().trial(segment->trial).curve.last_epoch() > segment->until;
  }
  EXPECT_TRUE(grew);
}

TEST_F(AskTellTest, EverythingToldIsInTheLogAndALaterProcessGoesOnWithTheOpenSegment) {
  AskTell& first = open(spec_of("random", epochs(100)));
  const Segment segment = *first.ask();
  EXPECT_EQ(first.report(segment.trial, {.epoch = 1, .value = 0.1}), Advice::go_on);
  EXPECT_EQ(first.report(segment.trial, {.epoch = 2, .value = 0.2}), Advice::go_on);

  AskTell& second = reopen();
  const Segment again = *second.ask();
  EXPECT_EQ(again.trial, segment.trial);
  EXPECT_EQ(again.from, 2);
  EXPECT_EQ(again.config, segment.config);
}

TEST_F(AskTellTest, InterruptedSegmentsAreHandedOutFirst) {
  AskTell& first = open(spec_of("random", epochs(100)));
  const Segment segment = *first.ask();
  first.report(segment.trial, {.epoch = 1, .value = 0.1});
  first.pause("Ctrl-C");
  EXPECT_EQ(history().trial(segment.trial).state, TrialState::interrupted);
  EXPECT_FALSE(first.is_handed_out(segment.trial));
  EXPECT_EQ(first.ask()->trial, segment.trial);
}

TEST_F(AskTellTest, SecondsAreMeasuredBetweenReportsAndDecisionsAreStartUp) {
  store_ = std::make_unique<MemoryStore>(spec_of("random", seconds(100.0), 3));
  SlowPolicy slow(make_policy({.name = "random"}), clock_);
  AskTell& loop = with(slow);
  const double begin = clock_.now();
  while (const std::optional<Segment> segment = loop.ask()) train(*segment, 2.0);
  Cost on_epochs = 0.0;
  Cost start_up = 0.0;
  for (const StoredEvent& stored : store_->events(0)) {
    if (const auto* measured = std::get_if<Measured>(&stored.event)) {
      EXPECT_DOUBLE_EQ(measured->measurement.cost, 2.0);
      on_epochs += 2.0;
    } else if (const auto* overhead = std::get_if<Overhead>(&stored.event)) {
      EXPECT_EQ(overhead->kind, OverheadKind::start_up);
      EXPECT_DOUBLE_EQ(overhead->cost, 1.0);
      start_up += 1.0;
    }
  }
  EXPECT_EQ(start_up, static_cast<double>(history().trials().size()));
  EXPECT_DOUBLE_EQ(history().budget().spent(), on_epochs + start_up);
  EXPECT_DOUBLE_EQ(history().budget().spent(), clock_.now() - begin);
}

TEST_F(AskTellTest, AnEpochThatCannotBeCutIsNotBegunIfItIsExpectedNotToFit) {
  AskTell& loop = open(spec_of("random", seconds(7.0), 100));
  const Segment segment = *loop.ask();
  EXPECT_EQ(train(segment, 2.0), Advice::stop);
  EXPECT_EQ(history().trial(segment.trial).curve.last_epoch(), 3);
  EXPECT_LE(history().budget().spent(), 7.0);
  EXPECT_TRUE(history().finished());
  EXPECT_FALSE(loop.ask());
}

TEST_F(AskTellTest, ACostThatIsGivenTakesThePlaceOfTheTime) {
  AskTell& loop = open(spec_of("random", seconds(100.0)));
  const Segment segment = *loop.ask();
  clock_.advance(5.0);
  loop.report(segment.trial, {.epoch = 1, .value = 0.1, .cost = 30.0});
  clock_.advance(2.0);
  loop.report(segment.trial, {.epoch = 2, .value = 0.1});
  EXPECT_DOUBLE_EQ(history().budget().spent(), 32.0);
}

TEST_F(AskTellTest, ChargesOfTheCallerAreStartUp) {
  AskTell& loop = open(spec_of("random", {.limit = 10.0, .unit = "usd", .meter = Meter::reported}));
  const Segment segment = *loop.ask();
  loop.charge(segment.trial, 2.0);
  loop.report(segment.trial, {.epoch = 1, .value = 0.1, .cost = 1.0});
  EXPECT_DOUBLE_EQ(history().budget().spent(), 3.0);
  EXPECT_DOUBLE_EQ(history().trial(segment.trial).overhead, 2.0);
  EXPECT_THROW(loop.charge(segment.trial, -1.0), InvalidInput);
}

TEST_F(AskTellTest, StatedSecondsAreRecordedToTheLastBit) {
  clock_.set(1.7e9);  // where a double of Unix time has steps of 0.24 microseconds
  AskTell& loop = open(spec_of("random", seconds(100.0)));
  const Segment segment = *loop.ask();
  for (const auto& [epoch, cost] : std::vector<std::pair<Epoch, Cost>>{{1, 0.1}, {2, 1e-7}, {3, 0.3}}) {
    clock_.advance(0.7);
    loop.report(segment.trial, {.epoch = epoch, .value = 0.1, .cost = cost});
    EXPECT_EQ(history().trial(segment.trial).curve.points().back().cost, cost);
  }
  loop.pause("Ctrl-C");
  ASSERT_EQ(reopen().ask()->trial, segment.trial);
  clock_.advance(0.7);
  loop_->report(segment.trial, {.epoch = 4, .value = 0.1, .cost = 5.0});
  EXPECT_EQ(history().trial(segment.trial).curve.points().back().cost, 5.0) << "also of a resumed trial";
  EXPECT_EQ(history().trial(segment.trial).overhead, 0.0);
}

TEST_F(AskTellTest, StatedCostsInAUnitOfOnesOwnAreRecordedToTheLastBit) {
  AskTell& loop = open(spec_of("random", {.limit = 10.0, .unit = "usd", .meter = Meter::reported}));
  const Segment segment = *loop.ask();
  loop.report(segment.trial, {.epoch = 1, .value = 0.1, .cost = 0.1});
  EXPECT_EQ(history().trial(segment.trial).curve.points().back().cost, 0.1);
  for (const Cost wrong : {1e308, 1.1e15, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(loop.report(segment.trial, {.epoch = 2, .value = 0.1, .cost = wrong}), InvalidInput);
    EXPECT_THROW(loop.charge(segment.trial, wrong), InvalidInput);
  }
}

TEST_F(AskTellTest, TheDeadlineEndsTheStudyAtTheNextReport) {
  StudySpec spec = spec_of("random", epochs(100));
  spec.deadline = 10.0;
  AskTell& loop = open(spec);
  const Segment segment = *loop.ask();
  EXPECT_EQ(train(segment, 4.0), Advice::stop);
  EXPECT_EQ(history().trial(segment.trial).curve.last_epoch(), 3);
  EXPECT_EQ(loop.end_reason(), "the deadline is reached");
}

TEST_F(AskTellTest, WhatCannotFollowIsRefusedAndRecordsNothing) {
  AskTell& loop = open(spec_of("random", {.limit = 10.0, .unit = "usd", .meter = Meter::reported}));
  const Segment segment = *loop.ask();
  const std::size_t before = store_->events(0).size();
  EXPECT_THROW(loop.report(segment.trial, {.epoch = 2, .value = 0.1, .cost = 1.0}), InvalidInput);
  EXPECT_THROW(loop.report(segment.trial, {.epoch = 0, .value = 0.1, .cost = 1.0}), InvalidInput);
  EXPECT_THROW(loop.report(segment.trial, {.epoch = 1, .value = 0.1}), InvalidInput);
  EXPECT_THROW(loop.report(segment.trial, {.epoch = 1, .value = 0.1, .cost = -1.0}), InvalidInput);
  EXPECT_THROW(loop.report(TrialId{7}, {.epoch = 1, .value = 0.1, .cost = 1.0}), InvalidInput);
  EXPECT_EQ(store_->events(0).size(), before);
  EXPECT_EQ(loop.report(segment.trial, {.epoch = 1, .value = 0.1, .cost = 1.0}), Advice::go_on);
}

TEST_F(AskTellTest, AValueThatIsNotFiniteFailsTheTrial) {
  AskTell& loop = open(spec_of("random", epochs(100)));
  const Segment segment = *loop.ask();
  EXPECT_EQ(loop.report(segment.trial, {.epoch = 1, .value = std::numeric_limits<double>::quiet_NaN()}), Advice::stop);
  EXPECT_EQ(history().trial(segment.trial).state, TrialState::failed);
  EXPECT_NE(loop.ask()->trial, segment.trial);
}

TEST_F(AskTellTest, FailuresAreChargedAndTooManyInARowEndTheLoopButNotTheStudy) {
  StudySpec spec = spec_of("random", seconds(100.0));
  spec.max_failures = 3;
  AskTell& loop = open(spec);
  for (int i = 0; i < 3; ++i) {
    const Segment segment = *loop.ask();
    clock_.advance(2.0);
    loop.fail(segment.trial, "no such file");
  }
  EXPECT_DOUBLE_EQ(history().budget().spent(), 6.0);
  EXPECT_FALSE(loop.ask());
  EXPECT_TRUE(loop.gave_up());
  EXPECT_FALSE(history().finished());
  EXPECT_NE(loop.end_reason().find("no such file"), std::string::npos);
  EXPECT_TRUE(reopen().ask());
}

TEST_F(AskTellTest, HandsOutAsManySegmentsAsThereAreWorkers) {
  StudySpec spec = spec_of("random", epochs(100));
  spec.workers = 2;
  AskTell& loop = open(spec);
  const Segment first = *loop.ask();
  const Segment second = *loop.ask();
  EXPECT_NE(first.trial, second.trial);
  EXPECT_FALSE(loop.ask());
  EXPECT_FALSE(loop.ended());
  loop.report(first.trial, {.epoch = 1, .value = 0.1});
  loop.complete(first.trial);
  EXPECT_EQ(history().trial(first.trial).state, TrialState::completed);
  EXPECT_TRUE(loop.ask());
}

TEST_F(AskTellTest, EpochsThatAreTrainedAgainArePaidAgain) {
  AskTell& loop = open(spec_of("random", seconds(1000.0), 50));
  const Segment segment = *loop.ask();
  for (Epoch epoch = 1; epoch <= 3; ++epoch) {
    clock_.advance(1.0);
    loop.report(segment.trial, {.epoch = epoch, .value = 0.1 * epoch});
  }
  loop.pause("Ctrl-C");
  loop.ask();
  for (Epoch epoch = 2; epoch <= 4; ++epoch) {
    clock_.advance(1.0);
    loop.report(segment.trial, {.epoch = epoch, .value = 0.1 * epoch});
  }
  EXPECT_EQ(history().trial(segment.trial).curve.last_epoch(), 4);
  EXPECT_DOUBLE_EQ(history().budget().spent(), 6.0);
  EXPECT_DOUBLE_EQ(history().trial(segment.trial).overhead, 2.0);
}

TEST_F(AskTellTest, ATrialThatTheUserStopsEndsAtItsNextReportAndThePolicyGoesOn) {
  StudySpec spec = spec_of("random", epochs(60));
  spec.workers = 2;
  AskTell& loop = open(spec);
  std::vector<TrialId> wanted;
  loop.attend_to([&] {
    for (const TrialId trial : wanted) session_->stop(trial);
    return Attended{.stopped = std::exchange(wanted, {})};
  });
  const Segment first = *loop.ask();
  const Segment second = *loop.ask();
  EXPECT_EQ(loop.report(first.trial, {.epoch = 1, .value = 0.5}), Advice::go_on);
  wanted = {first.trial};
  EXPECT_EQ(loop.report(second.trial, {.epoch = 1, .value = 0.5}), Advice::go_on) << "another one is meant";
  EXPECT_EQ(history().trial(first.trial).state, TrialState::stopped);
  EXPECT_EQ(loop.report(first.trial, {.epoch = 2, .value = 0.6}), Advice::stop);
  EXPECT_EQ(history().trial(first.trial).curve.last_epoch(), 2) << "what it reports is a fact";
  EXPECT_FALSE(loop.is_handed_out(first.trial));
  const Segment third = *loop.ask();
  EXPECT_EQ(loop.report(third.trial, {.epoch = 1, .value = 0.5}), Advice::go_on);
  wanted = {second.trial, third.trial};
  loop.ask();
  loop.fail(second.trial, "crashed as well");
  loop.complete(third.trial);
  EXPECT_EQ(history().trial(second.trial).state, TrialState::stopped);
  EXPECT_EQ(history().trial(third.trial).state, TrialState::stopped);
  loop.pause("the test ends");
  while (const std::optional<Segment> segment = loop.ask()) train(*segment);
  EXPECT_TRUE(loop.ended());
}

TEST_F(AskTellTest, APauseEndsTrainingAtTheNextReportAndALaterProcessContinues) {
  AskTell& loop = open(spec_of("random", epochs(60)));
  bool pause = false;
  loop.attend_to([&] { return Attended{.pause = pause}; });
  const Segment segment = *loop.ask();
  EXPECT_EQ(loop.report(segment.trial, {.epoch = 1, .value = 0.5}), Advice::go_on);
  pause = true;
  EXPECT_EQ(loop.report(segment.trial, {.epoch = 2, .value = 0.5}), Advice::pause);
  EXPECT_TRUE(loop.asked_to_pause());
  EXPECT_FALSE(loop.ask());
  EXPECT_FALSE(loop.ended());
  EXPECT_EQ(history().trial(segment.trial).state, TrialState::interrupted);
  const Segment again = *reopen().ask();
  EXPECT_EQ(again.trial, segment.trial);
  EXPECT_EQ(again.from, 2);
}

TEST_F(AskTellTest, WaitingForAMachineCostsNothing) {
  AskTell& loop = open(spec_of("random", seconds(100.0)));
  const Segment segment = loop.ask().value();
  loop.wait_for_place(segment.trial);
  clock_.advance(1000.0);
  loop.placed(segment.trial);
  clock_.advance(2.0);
  EXPECT_EQ(loop.report(segment.trial, {.epoch = 1, .value = 0.5}), Advice::go_on);
  EXPECT_EQ(history().budget().spent(), 2.0);
}

TEST_F(AskTellTest, WhatIsPutBackWithoutHavingHadAMachineCostsNothing) {
  AskTell& loop = open(spec_of("random", seconds(100.0)));
  const Segment segment = loop.ask().value();
  loop.wait_for_place(segment.trial);
  clock_.advance(1000.0);
  loop.put_back(segment.trial, "no machine");
  EXPECT_EQ(history().budget().spent(), 0.0);
  EXPECT_EQ(loop.ask().value().trial, segment.trial);
}

TEST_F(AskTellTest, ATrialCanBeNamedAndIsFoundByItsLastName) {
  AskTell& loop = open(spec_of("random", epochs(20.0)));
  const Segment segment = loop.ask().value();
  EXPECT_THROW(loop.name(TrialId{7}, "ray_7"), InvalidInput);
  loop.name(segment.trial, "ray_1");
  loop.name(segment.trial, "ray_2");
  EXPECT_EQ(other_names(store_->events(0)), (std::map<std::string, TrialId>{{"ray_2", segment.trial}}));
}

}  // namespace
}  // namespace bapi
