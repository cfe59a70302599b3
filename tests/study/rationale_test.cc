#include "bapi/study/rationale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/study/codec.h"

// Decisions as version 0.1 wrote them; the texts are from its logs.
namespace bapi {
namespace {

TEST(Rationale, AForecastOfTheRungsBecomesTyped) {
  const auto event = std::get<TrialResumed>(decode_event(
      R"({"kind":"resumed","version":1,"trial":7,"until":18,"expected_cost":9.5,"why":{"rule":)"
      R"("best expected improvement per cost to finish","numbers":[["predicted",0.93],["sd",0.01],["at_epoch",27.0],)"
      R"(["stop",20.0],["cost_to_finish",12.5],["cost_log_sd",0.3],["log_ei_per_cost",-8.0],["ei_per_cost",0.0001],)"
      R"(["incumbent",0.92],["target",0.94],["gap",0.05],["candidates",20.0],["preferred_to",15.0],)"
      R"(["its_log_ei_per_cost",-8.5],["shortened_from",27.0]]}})"));
  const double unit = std::log(0.0001) + 8.0;
  const Reason expected{
      .rule = Rule::improvement_per_cost,
      .forecast =
          Forecast{
              .epoch = 27, .mean = 0.93, .shown_sd = 0.01, .incumbent = 0.92, .target = 0.94, .gap = 0.05, .flat = 20},
      .price = Price{.until = 27, .cost = 12.5, .log_sd = 0.3},
      .score = Score{.log = -8.0 + unit, .unit = ScoreUnit::metric},
      .rival = RunnerUp{.trial = TrialId{15}, .log_score = -8.5 + unit},
      .candidates = 20,
      .shortened_from = 27};
  EXPECT_EQ(event.why, expected);
  EXPECT_EQ(event.until, 18);
}

TEST(Rationale, WhatPoliciesRememberedBecomesTheAssignment) {
  const auto assignment = [](const std::string& rule, const std::string& numbers) {
    const std::string text = R"({"kind":"started","version":1,"trial":2,"config":[0.5],"until":3,"expected_cost":0.0,)"
                             R"("why":{"rule":")" +
                             rule + R"(","numbers":[)" + numbers + "]}}";
    return std::get<TrialStarted>(decode_event(text)).assignment;
  };
  EXPECT_EQ(assignment("new in bracket", R"(["bracket",4.0],["rung",1.0],["configs",9.0])"),
            (TrialAssignment{.place = BracketPlace{.bracket = 4, .rung = 1}}));
  EXPECT_EQ(assignment("initial design", R"(["run",2.0])"), (TrialAssignment{.initial_run = 2}));
  EXPECT_EQ(assignment("nothing fits the budget: any", R"(["planned_budget",60.5],["smallest_cost",10.25])"),
            (TrialAssignment{.schedule = BudgetSchedule{.planned = 60.5, .smallest = 10.25}}));
  EXPECT_EQ(assignment("uniform draw", ""), TrialAssignment{});
}

TEST(Rationale, TheSecondRecordInsideThePlansReasonHasItsOwnType) {
  const Reason why = reason_of(Rationale{.rule = "best expected improvement per cost of the horizon",
                                         .numbers = {{"predicted", 0.5},
                                                     {"sd", 0.1},
                                                     {"stop", 9.0},
                                                     {"shortened", 1.0},
                                                     {"cost_to_stop", 3.0},
                                                     {"cost_log_sd", 0.2},
                                                     {"log_ei_per_cost", -2.0},
                                                     {"ei_per_cost", 0.25},
                                                     {"incumbent", 0.6},
                                                     {"gap", 0.0},
                                                     {"horizon", 4.0},
                                                     {"budget_after_horizon", 2.5},
                                                     {"preferred_to", -1.0},
                                                     {"its_log_ei_per_cost", -3.0},
                                                     {"ended_trial", 3.0},
                                                     {"ended_early", 1.0},
                                                     {"ended_unaffordable", 0.0},
                                                     {"ended_predicted", 0.4},
                                                     {"ended_sd", 0.05},
                                                     {"ended_stop", 12.0},
                                                     {"ended_incumbent", 0.6},
                                                     {"ended_sd_now", 0.03},
                                                     {"ended_kappa", 2.0}}});
  EXPECT_EQ(why.check,
            (BlockCheck{.trial = TrialId{3},
                        .outcome = CheckOutcome::ended_early,
                        .stop = 12,
                        .mean = 0.4,
                        .sd = 0.05,
                        .sd_now = 0.03,
                        .incumbent = 0.6,
                        .kappa = 2.0}));
  EXPECT_EQ(why.plan, (PlanOutline{.trials = 4, .left = 2.5}));
  EXPECT_TRUE(why.forecast->shortened);
  EXPECT_FALSE(why.forecast->flat);
  EXPECT_FALSE(why.rival->trial);  // a new configuration
  EXPECT_TRUE(why.notes.empty());
}

TEST(Rationale, AContinuedTrialIsTheOneThatWasLookedAt) {
  const auto event = std::get<TrialResumed>(decode_event(
      R"({"kind":"resumed","version":1,"trial":7,"until":8,"expected_cost":4.0,"why":{"rule":)"
      R"("on to its conservative stop","numbers":[["predicted",0.5],["sd",0.1],["stop",12.0],["incumbent",0.6],)"
      R"(["sd_now",0.2],["kappa",2.0],["cost_to_stop",8.0],["log_ei_per_cost",-2.0],["ei_per_cost",0.1],["gap",0.0]]}})"));
  ASSERT_TRUE(event.why.check);
  EXPECT_EQ(event.why.check->trial, TrialId{7});
  EXPECT_EQ(event.why.check->outcome, CheckOutcome::continues);
  EXPECT_EQ(event.why.check->sd_now, 0.2);
  EXPECT_TRUE(event.why.notes.empty());
}

TEST(Rationale, RulesAndNumbersOfOtherPoliciesAreKept) {
  const Reason why = reason_of(Rationale{.rule = "my rule", .numbers = {{"eta", 3.0}, {"at_epoch", 4.0}}});
  EXPECT_EQ(why,
            (Reason{.rule = Rule::own_words,
                    .own_words = "my rule",
                    .notes = {{.name = "eta", .value = 3.0}, {.name = "at_epoch", .value = 4.0}}}));
}

TEST(Rationale, HalvingSaysWhereATrialStands) {
  const Reason why = reason_of(
      Rationale{.rule = "among the best of its rung", .numbers = {{"rung", 1.0}, {"rank", 2.0}, {"reached", 9.0}}});
  EXPECT_EQ(why, (Reason{.rule = Rule::best_of_rung, .standing = RungStanding{.rung = 1, .rank = 2, .reached = 9}}));
}

}  // namespace
}  // namespace bapi
