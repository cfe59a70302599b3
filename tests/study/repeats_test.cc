#include "bapi/study/repeats.h"

#include <gtest/gtest.h>

#include "bapi/study/codec.h"
#include "bapi/study/history.h"
#include "bapi/study/progress.h"

namespace bapi {
namespace repeats_test {

StudySpec spec_of(int repeat, Cost budget = 300.0) {
  StudySpec spec;
  spec.name = "noisy";
  spec.metric = {.name = "score"};
  spec.budget = {.limit = budget, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 10};
  spec.repeat = repeat;
  return spec;
}

Event start(int trial, double x, Epoch until, std::optional<RepeatPlace> repeat = {}) {
  return TrialStarted{.trial = TrialId{trial}, .config = {{x}}, .until = until, .assignment = {.repeat = repeat}};
}

RepeatPlace repeat_of(int trial, int number) { return {.of = TrialId{trial}, .number = number}; }

void train(History& history, int trial, const std::vector<double>& values) {
  for (const double value : values) {
    const Epoch epoch = history.trial(TrialId{trial}).curve.last_epoch() + 1;
    history.apply(Measured{.trial = TrialId{trial}, .measurement = {.epoch = epoch, .value = value, .cost = 1.0}});
  }
  history.apply(SegmentDone{.trial = TrialId{trial}});
}

// Trials 0 and 1, of which the first was lucky; each is repeated once.
History two_finalists() {
  History history(spec_of(2));
  history.apply(start(0, 0.1, 2));
  train(history, 0, {0.5, 0.9});
  history.apply(start(1, 0.2, 2));
  train(history, 1, {0.5, 0.8});
  history.apply(start(2, 0.1, 2, repeat_of(0, 2)));
  train(history, 2, {0.3, 0.5});
  history.apply(start(3, 0.2, 2, repeat_of(1, 2)));
  train(history, 3, {0.6, 0.82});
  return history;
}

TEST(Reserve, IsTheRepeatsOfAsManyFinalistsAsAThirdOfTheBudgetPays) {
  EXPECT_EQ(planned_finalists(600.0, 3, 25.0), 4);
  EXPECT_EQ(repeat_reserve(600.0, 3, 25.0), 4 * 2 * 25.0);
  EXPECT_EQ(planned_finalists(6000.0, 3, 25.0), kMostFinalists);
  EXPECT_EQ(repeat_reserve(6000.0, 3, 25.0), 5 * 2 * 25.0);
}

TEST(Reserve, IsForTwoFinalistsAtLeastButNeverMoreThanHalfOfTheBudget) {
  EXPECT_EQ(planned_finalists(250.0, 3, 25.0), 2);
  EXPECT_EQ(repeat_reserve(250.0, 3, 25.0), 2 * 2 * 25.0);
  EXPECT_EQ(repeat_reserve(120.0, 3, 25.0), 60.0);
}

TEST(Reserve, IsAThirdOfTheBudgetUntilTheCostOfATrainingIsKnownAndNothingWithoutRepeats) {
  EXPECT_EQ(repeat_reserve(300.0, 3, 0.0), 100.0);
  EXPECT_EQ(repeat_reserve(300.0, 1, 25.0), 0.0);
}

TEST(Budget, RemainingLeavesTheReserveToTheRepeatsUntilTheyBegin) {
  History history(spec_of(2));
  EXPECT_EQ(history.budget().reserved(), 5 * 10.0);
  EXPECT_EQ(history.budget().remaining(), 250.0);
  EXPECT_EQ(history.budget().total(), 300.0);
  history.apply(start(0, 0.1, 2));
  train(history, 0, {0.5, 0.9});
  history.apply(start(1, 0.1, 2, repeat_of(0, 2)));
  EXPECT_TRUE(history.repeating());
  EXPECT_EQ(history.budget().remaining(), 298.0);
  history.apply(BudgetChanged{.total = 600.0});
  EXPECT_FALSE(history.repeating());
  EXPECT_EQ(history.budget().reserved(), 5 * 10.0);
}

TEST(BestByMean, IsTheSteadyConfigurationWithItsStandardErrorAndTheModelOfItsBestTraining) {
  const History history = two_finalists();
  const Best found = *best(history);
  EXPECT_EQ(found.trial, TrialId{3});
  EXPECT_EQ(found.epoch, 2);
  EXPECT_NEAR(found.value, 0.81, 1e-12);
  EXPECT_EQ(found.trial_value, 0.82);
  EXPECT_EQ(found.trainings, 2);
  EXPECT_NEAR(*found.standard_error, 0.01, 1e-12);
  EXPECT_EQ(history.incumbent(), TrialId{3});
}

TEST(BestByMean, DoesNotCountARepeatThatIsStillBeingTrainedNorOneThatFailed) {
  History history(spec_of(3));
  history.apply(start(0, 0.1, 2));
  train(history, 0, {0.5, 0.9});
  history.apply(start(1, 0.1, 2, repeat_of(0, 2)));
  history.apply(Measured{.trial = TrialId{1}, .measurement = {.epoch = 1, .value = 2.0, .cost = 1.0}});
  EXPECT_EQ(best(history)->value, 0.9);
  EXPECT_FALSE(best_by_mean(history));
  history.apply(TrialFailed{.trial = TrialId{1}, .message = "it died"});
  EXPECT_EQ(best(history)->value, 0.9);
  EXPECT_EQ(standing_of(history, TrialId{0})->failed, 1);
}

TEST(BestByMean, ComparesTrainingsOfAConfigurationByTheSameEpoch) {
  History history = two_finalists();
  history.apply(BudgetChanged{.total = 600.0});
  history.apply(TrialResumed{.trial = TrialId{1}, .until = 3});
  train(history, 1, {0.99});
  EXPECT_NEAR(standing_of(history, TrialId{1})->mean, 0.81, 1e-12);
  const RepeatStep step = *next_repeat(history);
  EXPECT_EQ(step.resumed, TrialId{3});  // trained on, as far as the trial that it repeats
  EXPECT_EQ(step.until, 3);
}

TEST(NextRepeat, GivesEveryFinalistItsSecondTrainingBeforeAnyItsThird) {
  History history(spec_of(3, 120.0));  // 2 finalists
  for (int i = 0; i < 4; ++i) {
    history.apply(start(i, 0.1 * i, 10));
    train(history, i, std::vector<double>(10, 0.1 * i));
  }
  std::vector<std::pair<std::int64_t, int>> order;
  for (int id = 4; const std::optional<RepeatStep> step = next_repeat(history); ++id) {
    order.emplace_back(index(step->place.of), step->place.number);
    EXPECT_EQ(step->until, 10);
    EXPECT_EQ(step->expected_cost, 10.0);
    history.apply(start(id, 0.1 * static_cast<double>(index(step->place.of)), 10, step->place));
    train(history, id, std::vector<double>(10, 0.3));
  }
  using Order = std::vector<std::pair<std::int64_t, int>>;
  EXPECT_EQ(order, (Order{{3, 2}, {2, 2}, {3, 3}, {2, 3}, {1, 2}, {1, 3}, {0, 2}, {0, 3}}));
}

TEST(NextRepeat, IsNoneThatTheBudgetDoesNotPay) {
  History history(spec_of(2, 25.0));
  history.apply(start(0, 0.1, 10));
  train(history, 0, std::vector<double>(10, 0.5));
  history.apply(start(1, 0.1, 10, repeat_of(0, 2)));
  train(history, 1, std::vector<double>(10, 0.5));
  EXPECT_FALSE(next_repeat(history));
}

TEST(History, RefusesARepeatOfAnotherConfigurationOrOfARepeat) {
  const History history = two_finalists();
  EXPECT_TRUE(history.objection(start(4, 0.7, 2, repeat_of(0, 3))));
  EXPECT_TRUE(history.objection(start(4, 0.1, 2, repeat_of(2, 3))));
  EXPECT_TRUE(history.objection(start(4, 0.1, 2, repeat_of(9, 3))));
  EXPECT_FALSE(history.objection(start(4, 0.1, 2, repeat_of(0, 3))));
}

TEST(Trial, ARepeatIsNotForPoliciesToResume) {
  const History history = two_finalists();
  EXPECT_TRUE(history.trial(TrialId{0}).resumable());
  EXPECT_FALSE(history.trial(TrialId{2}).resumable());
}

TEST(Codec, KeepsTheRepeatOfAStart) {
  TrialStarted event{.trial = TrialId{4}, .config = {{0.1}}, .until = 2, .assignment = {.repeat = repeat_of(1, 3)}};
  event.why.rule = Rule::repeat;
  event.why.repeat = RepeatOutline{.of = TrialId{1}, .number = 3, .total = 4};
  EXPECT_EQ(decode_event(encode(Event(event))), Event(event));
}

}  // namespace repeats_test
}  // namespace bapi
