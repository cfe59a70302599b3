#include "bapi/report/reasons.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/report/sample_study.h"

namespace bapi {
namespace {

Reason forecast_reason() {
  return {.rule = Rule::improvement_per_cost,
          .forecast = Forecast{.epoch = 27,
                               .mean = 0.931,
                               .sd = 0.008,
                               .shown_sd = 0.012,
                               .incumbent = 0.92,
                               .target = 0.94,
                               .gap = 0.05,
                               .flat = 20},
          .price = Price{.until = 27, .cost = 12.5, .log_sd = 0.3},
          .score = Score{.log = std::log(0.00012), .unit = ScoreUnit::metric},
          .rival = RunnerUp{.trial = TrialId{15}, .log_score = std::log(0.00012 / 1.04)},
          .candidates = 20};
}

TEST(Reasons, ALineNamesTheRuleAndTheForecast) {
  EXPECT_EQ(in_brief(forecast_reason()), "highest expected improvement per cost (0.931 ± 0.012 expected at epoch 27)");
  EXPECT_EQ(in_brief({.rule = Rule::promoted, .standing = RungStanding{.bracket = 0, .rung = 1, .places = 9}}),
            "promoted (bracket 0, rung 1, 9 places)");
  EXPECT_EQ(in_brief(in_own_words("my rule")), "my rule");
  EXPECT_EQ(in_brief({}), "");
}

TEST(Reasons, ALineHasNoParenthesesWithinParentheses) {
  Reason why = forecast_reason();
  why.forecast->quantiles = {0.90, 0.91, 0.92, 0.931, 0.94, 0.95, 0.96};
  EXPECT_EQ(in_brief(why), "highest expected improvement per cost, 0.931 (80 %: 0.91 to 0.95) expected at epoch 27");
}

TEST(Reasons, AMeanThatExtremeValuesPullOutOfTheBandGivesWayToTheMedian) {
  Reason why = forecast_reason();
  why.forecast->mean = 14.72;
  why.forecast->quantiles = {0.4, 0.48, 0.55, 0.7, 0.9, 1.26, 40.0};
  EXPECT_EQ(in_brief(why), "highest expected improvement per cost, 0.7 (80 %: 0.48 to 1.26) expected at epoch 27");
}

TEST(Reasons, AnImprovementThatIsNoneIsNotCompared) {
  Reason why = forecast_reason();
  why.score->log = -1e12;
  why.rival->log_score = -1e12 - 0.04;
  const std::vector<std::string> sentences = in_full(why, TrialId{3}, sample_spec(), Detail::normal);
  std::string all;
  for (const std::string& sentence : sentences) all += sentence;
  EXPECT_NE(all.find(": practically none"), std::string::npos) << all;
  EXPECT_EQ(all.find("runner-up"), std::string::npos) << all;
}

TEST(Reasons, ShorterFormsKeepTheNumbers) {
  EXPECT_EQ(
      brief_forms(forecast_reason()),
      (std::vector<std::string>{"highest expected improvement per cost (0.931 ± 0.012 expected at epoch 27); 4 % more "
                                "than the runner-up (trial 15)",
                                "highest expected improvement per cost (0.931 ± 0.012 expected at epoch 27)",
                                "best per cost, 0.931 ± 0.012 at epoch 27",
                                "best per cost, 0.931 ± 0.012",
                                "0.931 ± 0.012 at epoch 27",
                                "0.931 ± 0.012"}));
  EXPECT_EQ(brief_forms({.rule = Rule::promoted, .standing = RungStanding{.rung = 1, .rank = 1, .reached = 9}}).back(),
            "rank 2 of 9");
  EXPECT_TRUE(brief_forms({}).empty());
}

TEST(Reasons, EveryRuleHasAShortForm) {
  for (const auto& entry : names<Rule>.entries) {
    Reason why = forecast_reason();
    why.rule = entry.value;
    why.own_words = "mine";
    const std::vector<std::string> forms = brief_forms(why);
    EXPECT_FALSE(forms.empty()) << entry.word;
    EXPECT_LE(forms.back().size(), 16U) << entry.word;
  }
}

TEST(Reasons, SentencesSayWhatWasExpectedWhatItCostsAndHowFarTheRunnerUpIs) {
  EXPECT_EQ(
      in_full(forecast_reason(), TrialId{7}, sample_spec(), Detail::normal),
      (std::vector<std::string>{
          "Expected accuracy at epoch 27: 0.931 ± 0.012; best so far 0.92; the remaining budget should reach 0.94.",
          "The curve should be flat by epoch 20.",
          "Training to epoch 27 should cost 12.5 s.",
          "Expected improvement over that value per second: 0.00012, 4 % more than the runner-up (trial 15); 20 "
          "candidates considered."}));
}

TEST(Reasons, DetailsAreToldOnRequest) {
  Reason why = forecast_reason();
  why.notes = {{.kind = NoteKind::fit_not_converged, .value = 60.0}, {.kind = NoteKind::jitter, .value = 1e-8}};
  const std::size_t normal = in_full(why, TrialId{7}, sample_spec(), Detail::normal).size();
  const std::vector<std::string> all = in_full(why, TrialId{7}, sample_spec(), Detail::everything);
  ASSERT_EQ(all.size(), normal + 3);
  EXPECT_EQ(all[normal], "The score used a standard deviation of 0.008.");
  EXPECT_EQ(all[normal + 1], "The fit of the model had not converged after 60 evaluations.");
  EXPECT_EQ(all[normal + 2], "A jitter of 1e-08 stabilised the covariance of the model.");
}

TEST(Reasons, EveryRuleHasItsWords) {
  for (const auto& entry : names<Rule>.entries) {
    const Reason why{.rule = entry.value, .own_words = "mine"};
    EXPECT_EQ(rule_text(why).empty(), entry.value == Rule::unstated) << entry.word;
  }
}

TEST(Reasons, ARecordHasAllNumbersByTheirNames) {
  const std::string json = to_json(Cell(record_of(forecast_reason())));
  EXPECT_NE(json.find(R"("forecast": {"epoch": 27)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("shown_sd": 0.012)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("rule": "improvement-per-cost")"), std::string::npos) << json;
}

TEST(Reasons, ATrialIsAlsoExplainedByTheDecisionThatEndedIt) {
  const std::vector<StoredEvent> events = {
      {.seq = 1, .event = TrialStarted{.trial = TrialId{0}, .until = 3, .why = {.rule = Rule::initial_design}}},
      {.seq = 2,
       .event = TrialStarted{
           .trial = TrialId{1},
           .until = 3,
           .why = {.rule = Rule::plan,
                   .check = BlockCheck{.trial = TrialId{0}, .outcome = CheckOutcome::at_stop, .stop = 3}}}}};
  const std::string text = explanation_text(events, sample_spec(), TrialId{0}, Detail::normal);
  EXPECT_NE(text.find("#1 after 0 s: start trial 0, train to epoch 3: initial design\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    Trial 0 has reached its conservative stop, epoch 3.\n"), std::string::npos) << text;
  EXPECT_EQ(explanation_table(events, sample_spec(), TrialId{1}).rows().size(), 1U);
}

}  // namespace
}  // namespace bapi
