#include "bapi/control/session.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/policy/rivals/random_search.h"
#include "bapi/store/memory_store.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace session_test {

using test::TempDir;

StudySpec spec_of(Meter meter, Cost limit, Epoch max_epoch = 10) {
  StudySpec spec;
  spec.name = "test";
  spec.budget = {.limit = limit, .unit = "u", .meter = meter};
  spec.epochs = {.min = 1, .max = max_epoch};
  spec.policy = {.name = "random"};
  return spec;
}

class SessionTest : public testing::Test {
 protected:
  Session& open(const StudySpec& spec) {
    store_ = std::make_unique<MemoryStore>(spec);
    return reopen();
  }

  Session& reopen() {
    session_ = std::make_unique<Session>(*store_, policy_, clock_);
    return *session_;
  }

  void report(Epoch from, Epoch until, Cost cost, int trial = 0) {
    for (Epoch t = from + 1; t <= until; ++t) {
      session_->record(std::vector<Event>{Measured{TrialId{trial}, {t, 0.5, cost}}});
    }
  }

  ManualClock clock_{100.0};
  RandomSearch policy_{PolicySpec{.name = "random"}};
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, ShortensASegmentToTheEpochsThatTheBudgetPays) {
  Session& session = open(spec_of(Meter::epochs, 7.0));
  const auto segment = std::get<Segment>(session.ask());
  EXPECT_EQ(segment.until, 7);
  EXPECT_EQ(segment.max_epoch, 7);
  report(0, 7, 1.0);
  session.record(std::vector<Event>{SegmentDone{TrialId{0}}});
  EXPECT_TRUE(std::holds_alternative<Finish>(session.ask()));
  EXPECT_TRUE(session.history().finished());
}

TEST_F(SessionTest, ReservesWhatRunningTrialsWillCost) {
  StudySpec spec = spec_of(Meter::epochs, 13.0);
  spec.workers = 2;
  Session& session = open(spec);
  EXPECT_EQ(std::get<Segment>(session.ask()).until, 10);
  const auto second = std::get<Segment>(session.ask());
  EXPECT_EQ(second.until, 3);
  EXPECT_EQ(second.max_epoch, 3);
  EXPECT_TRUE(std::holds_alternative<Wait>(session.ask()));
}

TEST_F(SessionTest, DoesNotRecordAnEpochThatTheBudgetCannotPay) {
  Session& session = open(spec_of(Meter::epochs, 2.0));
  EXPECT_EQ(std::get<Segment>(session.ask()).until, 2);
  session.record(std::vector<Event>{Measured{TrialId{0}, {1, 0.5, 1.0}},
                                    Measured{TrialId{0}, {2, 0.5, 1.0}},
                                    SegmentDone{TrialId{0}},
                                    Measured{TrialId{0}, {3, 0.9, 1.0}}});
  EXPECT_EQ(session.history().budget().spent(), 2.0);
  EXPECT_EQ(session.history().trial(TrialId{0}).curve.last_epoch(), 2);
}

TEST_F(SessionTest, ReportedCostsShortenBySoFarObservedCosts) {
  Session& session = open(spec_of(Meter::reported, 50.0));
  EXPECT_EQ(std::get<Segment>(session.ask()).until, 10);  // nothing is known yet
  report(0, 10, 4.0);
  session.record(std::vector<Event>{SegmentDone{TrialId{0}}});
  EXPECT_EQ(std::get<Segment>(session.ask()).until, 2);  // 10 left, 4 each
}

TEST_F(SessionTest, ReopenedSessionContinuesOpenSegmentsFromTheLastRecordedEpoch) {
  open(spec_of(Meter::accrued, 100.0)).ask();
  report(0, 4, 1.0);
  clock_.advance(50.0);
  Session& again = reopen();
  ASSERT_EQ(again.open_segments().size(), 1U);
  EXPECT_EQ(again.open_segments()[0].from, 4);
  EXPECT_EQ(again.open_segments()[0].until, 10);
  EXPECT_EQ(again.started_at(), 100.0);
  EXPECT_EQ(again.history().decisions(), 1);
}

TEST_F(SessionTest, TheDeadlineCountsFromTheFirstDecisionWhateverWasWrittenBefore) {
  Session& session = open(spec_of(Meter::epochs, 100.0));
  session.enqueue({{0.5}}, "somebody");
  clock_.advance(50.0);
  session.ask();
  EXPECT_EQ(session.started_at(), 150.0);
  clock_.advance(50.0);
  EXPECT_EQ(reopen().started_at(), 150.0);
}

// ---- Configurations that were asked for.

StudySpec two_parameters() {
  StudySpec spec = spec_of(Meter::epochs, 100.0);
  spec.space = Space({Param{.name = "lr", .domain = RealRange{}}, Param{.name = "decay", .domain = RealRange{}}});
  spec.workers = 4;
  return spec;
}

TEST_F(SessionTest, NewTrialsTryWhatTheStudyFileAsksForFirst) {
  StudySpec spec = two_parameters();
  spec.tries = {{{"lr", 0.25}, {"decay", 0.5}}, {{"lr", 0.75}}};
  Session& session = open(spec);
  const std::vector<Value> first = std::get<Segment>(session.ask()).config.values;
  EXPECT_EQ(first, (std::vector<Value>{0.25, 0.5}));
  const std::vector<Value> second = std::get<Segment>(session.ask()).config.values;
  EXPECT_EQ(second[0], Value{0.75});
  EXPECT_NE(std::get<Segment>(session.ask()).config.values[0], Value{0.75});
  const Trial& trial = session.history().trial(TrialId{1});
  EXPECT_EQ(trial.why.rule, Rule::enqueued);
  EXPECT_EQ(trial.why.wish->by, "the study file");
  EXPECT_EQ(trial.why.wish->left_open, std::vector<std::string>{"decay"});
  EXPECT_EQ(trial.assignment.wish, 1);
  EXPECT_EQ(session.history().next_wish(), std::nullopt);
}

TEST_F(SessionTest, ValuesThatAreLeftOpenAreThoseOfThePolicy) {
  StudySpec spec = two_parameters();
  const std::vector<Value> proposal = std::get<Segment>(open(spec).ask()).config.values;
  spec.tries = {{{"lr", 0.25}}};
  EXPECT_EQ(std::get<Segment>(open(spec).ask()).config.values[1], proposal[1]);
}

TEST_F(SessionTest, WhatWasTriedIsNotTriedAgainWhenTheStudyIsReopened) {
  StudySpec spec = two_parameters();
  spec.tries = {{{"lr", 0.25}}};
  open(spec).ask();
  Session& again = reopen();
  EXPECT_NE(std::get<Segment>(again.ask()).config.values[0], Value{0.25});
  EXPECT_EQ(again.history().wishes().size(), 1u);
}

TEST_F(SessionTest, AWishThatWasRecordedAndNotTriedIsTriedByTheNextController) {
  Session& session = open(two_parameters());
  session.ask();
  session.enqueue({{0.125, Value{}}}, "Python");
  EXPECT_EQ(std::get<Segment>(reopen().ask()).config.values[0], Value{0.125});
}

TEST_F(SessionTest, RequestsAreTakenBeforeTheNextDecisionAndOnce) {
  const TempDir scratch;
  const StudyDir dir(scratch.path() / "s.bapi");
  Session& session = open(two_parameters());
  session.serve(WishBox(dir));
  WishBox(dir).put({.wish = {{0.375, Value{}}}, .by = "bapi add"}, 1.0);
  EXPECT_EQ(std::get<Segment>(session.ask()).config.values[0], Value{0.375});
  Session& again = reopen();
  again.serve(WishBox(dir));
  EXPECT_NE(std::get<Segment>(again.ask()).config.values[0], Value{0.375});
  EXPECT_EQ(again.history().wishes().size(), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(dir.root() / "wishes"));
}

TEST_F(SessionTest, ARequestThatDoesNotFitIsLeftOut) {
  const TempDir scratch;
  const StudyDir dir(scratch.path() / "s.bapi");
  Session& session = open(two_parameters());
  session.serve(WishBox(dir));
  WishBox(dir).put({.wish = {{7.0, Value{}}}, .by = "bapi add"}, 1.0);
  EXPECT_NO_THROW(session.ask());
  EXPECT_TRUE(session.history().wishes().empty());
  EXPECT_THROW(session.enqueue({{7.0, Value{}}}, "Python"), InvalidInput);
}

TEST_F(SessionTest, SecondControllerIsNoticedAtItsFirstDecision) {
  Session& first = open(spec_of(Meter::epochs, 100.0));
  RandomSearch other_policy{PolicySpec{.name = "random"}};
  Session other(*store_, other_policy, clock_);
  first.ask();
  EXPECT_THROW(other.ask(), StoreError);
}

TEST_F(SessionTest, SecondControllerIsNoticedAtItsFirstFact) {
  Session& first = open(spec_of(Meter::epochs, 100.0));
  first.ask();
  RandomSearch other_policy{PolicySpec{.name = "random"}};
  Session other(*store_, other_policy, clock_);
  report(0, 1, 1.0);
  const std::vector<Event> same = {Measured{TrialId{0}, {1, 0.5, 1.0}}};
  EXPECT_THROW(other.record(same), StoreError);
  EXPECT_EQ(reopen().history().trial(TrialId{0}).curve.last_epoch(), 1);
}

// Says the same whatever the history is.
class Stubborn : public Policy {
 public:
  explicit Stubborn(Decision decision) : decision_(std::move(decision)) {}
  std::string_view name() const override { return "stubborn"; }
  Decision ask(const History&, Rng&) override { return decision_; }

 private:
  Decision decision_;
};

TEST_F(SessionTest, ADecisionThatCannotFollowIsRefusedBeforeItIsWritten) {
  StudySpec spec = spec_of(Meter::epochs, 100.0);
  spec.workers = 2;
  open(spec).ask();  // trial 0 runs
  const std::vector<StoredEvent> before = store_->events(0);
  const std::vector<Decision> wrong = {Resume{.trial = TrialId{0}, .until = 10},
                                       Stop{.trial = TrialId{0}},
                                       Stop{.trial = TrialId{5}},
                                       Start{.config = {{7.0}}, .until = 3},
                                       Start{.config = {{0.5}}, .until = 11},
                                       Start{.config = {{0.5}}, .until = 0},
                                       Resume{.trial = TrialId{5}, .until = 10}};
  for (const Decision& decision : wrong) {
    Stubborn policy(decision);
    EXPECT_THROW(Session(*store_, policy, clock_).ask(), LogicError) << decision.index();
    EXPECT_EQ(store_->events(0), before);
  }
  EXPECT_EQ(reopen().history().trials().size(), 1u);
}

// An epoch that is trained already: the mistake must not pass for an empty budget and end the study.
TEST_F(SessionTest, ResumingToAnEpochThatIsTrainedIsAMistakeAndNotTheEndOfTheStudy) {
  open(spec_of(Meter::epochs, 100.0)).ask();
  report(0, 1, 1.0);
  std::vector<Event> done;
  for (Epoch epoch = 2; epoch <= 10; ++epoch) done.push_back(Measured{TrialId{0}, {epoch, 0.5, 1.0}});
  done.push_back(SegmentDone{TrialId{0}});
  reopen().record(done);
  const std::vector<StoredEvent> before = store_->events(0);
  Stubborn policy(Resume{.trial = TrialId{0}, .until = 10});
  EXPECT_THROW(Session(*store_, policy, clock_).ask(), LogicError);
  EXPECT_EQ(store_->events(0), before);
}

TEST_F(SessionTest, WhatWasOverdrawnIsKnownAfterARestart) {
  Session& session = open(spec_of(Meter::reported, 10.0));
  session.ask();
  report(0, 1, 12.0);
  EXPECT_EQ(session.history().budget().spent(), 12.0);
  Session& again = reopen();
  again.record(std::vector<Event>{Measured{TrialId{0}, {2, 0.5, 12.0}}});
  EXPECT_EQ(again.history().budget().spent(), 12.0);
}

TEST_F(SessionTest, FactsThatCannotFollowAreRefusedBeforeTheyAreWritten) {
  Session& session = open(spec_of(Meter::reported, 100.0));
  session.ask();
  const std::vector<Event> half_right = {Measured{TrialId{0}, {2, 0.5, 1.0}}, Measured{TrialId{0}, {1, 0.5, 1.0}}};
  EXPECT_THROW(session.record(half_right), LogicError);
  EXPECT_EQ(store_->events(0).size(), 1u);
  report(0, 1, 1.0);
  EXPECT_EQ(session.history().trial(TrialId{0}).curve.last_epoch(), 1);
}

TEST_F(SessionTest, ALogWithAnImpossibleEventIsNotContinued) {
  open(spec_of(Meter::epochs, 100.0)).ask();
  ASSERT_TRUE(store_->append_decision(1, TrialResumed{.trial = TrialId{0}, .until = 10}, 0.0));
  try {
    reopen();
    FAIL() << "opened";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("event 2 (resumed) is damaged: trial 0: it is running"), std::string::npos)
        << error.what();
  }
}

TEST_F(SessionTest, ProgramsWithoutCheckpointsPayForRepeatedEpochs) {
  StudySpec spec = spec_of(Meter::epochs, 12.0, 20);
  spec.checkpoint = Checkpoint::none;
  Session& session = open(spec);
  EXPECT_EQ(std::get<Segment>(session.ask()).until, 12);
  report(0, 5, 1.0);
  session.record(std::vector<Event>{Interrupted{TrialId{0}, "Ctrl-C"}});
  const Segment segment = reopen().open_segments().at(0);
  EXPECT_EQ(segment.from, 5);
  EXPECT_EQ(segment.until, 12);
}

TEST_F(SessionTest, TakesTrialsThatWereTrainedElsewhere) {
  Session& session = open(spec_of(Meter::epochs, 100.0));
  const Config config{.values = {0.25}};
  const TrialId done = session.adopt({.config = config, .curve = {{1, 0.5, 1.0}, {2, 0.7, 1.0}}});
  const TrialId paused = session.adopt({.config = config, .curve = {{1, 0.9, 1.0}}, .end = OutsideTrial::End::paused});
  const TrialId failed = session.adopt({.config = config, .end = OutsideTrial::End::failed, .message = "diverged"});
  const History& history = reopen().history();
  EXPECT_EQ(history.trial(done).state, TrialState::completed);
  EXPECT_EQ(history.trial(paused).state, TrialState::paused);
  EXPECT_EQ(history.trial(failed).failure, "diverged");
  EXPECT_EQ(history.incumbent(), paused);
  EXPECT_EQ(history.budget().spent(), 3.0);
  EXPECT_EQ(history.open_segments(), 0);
}

TEST_F(SessionTest, RefusesTrialsFromElsewhereThatDoNotFit) {
  Session& session = open(spec_of(Meter::epochs, 100.0));
  EXPECT_THROW(session.adopt({.config = {.values = {7.0}}, .curve = {{1, 0.5, 1.0}}}), InvalidInput);
  EXPECT_THROW(session.adopt({.config = {.values = {0.5}}}), InvalidInput);
  EXPECT_THROW(session.adopt({.config = {.values = {0.5}}, .curve = {{2, 0.5, 1.0}}}), InvalidInput);
  EXPECT_TRUE(store_->events(0).empty());
}

TEST_F(SessionTest, RefusesATrialFromElsewhereThatTheBudgetCannotPay) {
  Session& session = open(spec_of(Meter::epochs, 3.0));
  const Config config{.values = {0.5}};
  session.adopt({.config = config, .curve = {{1, 0.5, 1.0}, {2, 0.6, 1.0}}});
  EXPECT_THROW(session.adopt({.config = config, .curve = {{1, 0.5, 1.0}, {2, 0.6, 1.0}}}), InvalidInput);
  EXPECT_EQ(reopen().open_segments().size(), 0);
}

TEST_F(SessionTest, RefusesTrialsFromElsewhereAfterTheEnd) {
  Session& session = open(spec_of(Meter::epochs, 100.0));
  session.finish("enough");
  EXPECT_THROW(session.adopt({.config = {.values = {0.5}}, .curve = {{1, 0.5, 1.0}}}), InvalidInput);
  EXPECT_TRUE(reopen().history().finished()) << "the log can still be read";
}

}  // namespace session_test
}  // namespace bapi
