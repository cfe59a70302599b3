#include "bapi/report/summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/report/sample_study.h"

namespace bapi {
namespace summary_test {

using nlohmann::json;

History sample_history() { return replay(sample_spec(), sample_log().events()); }

TEST(BestCell, DoesNotExistBeforeTheFirstReport) { EXPECT_TRUE(best_cell(History(sample_spec()), {}).is_null()); }

TEST(Ledger, AddsUpToWhatWasSpentToTheLastBit) {
  Cost sum = 0.0;
  for (const Charge& charge : ledger(sample_log().events())) sum += charge.cost;
  EXPECT_EQ(sum, sample_history().budget().spent());
}

TEST(Ledger, HasOneRowPerChargeWithTheSequenceNumberOfItsEvent) {
  const std::vector<Charge> charges = ledger(sample_log().events());
  ASSERT_EQ(charges.size(), 9u);
  EXPECT_EQ(charges[0].seq, 2);
  EXPECT_EQ(charges[0].kind, CostKind::start_up);
  EXPECT_EQ(charges[3].seq, 6);
  EXPECT_EQ(charges[3].kind, CostKind::grace);
  EXPECT_EQ(charges[3].epoch, 3);
  EXPECT_EQ(word(charges[4].kind), "repeat");
  EXPECT_EQ(word(charges[8].kind), "failed");
}

TEST(Ledger, SumsByKindAndByTrial) {
  const std::vector<Charge> charges = ledger(sample_log().events());
  const Spending sums = spending(charges);
  EXPECT_EQ(sums[static_cast<std::size_t>(CostKind::start_up)], 0.1);
  EXPECT_EQ(sums[static_cast<std::size_t>(CostKind::grace)], 0.7);
  EXPECT_EQ(sums[static_cast<std::size_t>(CostKind::failed)], 0.3);
  const std::vector<Spending> by_trial = spending_by_trial(charges, 3);
  EXPECT_EQ(by_trial[0][static_cast<std::size_t>(CostKind::epoch)], 1.1 + 1.3);
  EXPECT_EQ(by_trial[2][static_cast<std::size_t>(CostKind::epoch)], 0.0);
}

TEST(Status, HasTheNamesThatScriptsRelyOn) {
  const Fields record = status_record(sample_history(), Controller::absent, {.path = "/x/checkpoint"});
  const json status = json::parse(render(record, Format::json));
  EXPECT_EQ(status["name"], "sample");
  EXPECT_EQ(status["policy"], "bapi");
  EXPECT_EQ(status["state"], "interrupted");
  EXPECT_EQ(status["budget"]["total"], 100.0);
  EXPECT_EQ(status["budget"]["spent"], sample_history().budget().spent());
  EXPECT_EQ(status["budget"]["remaining"], 0.0);
  EXPECT_EQ(status["budget"]["unit"], "s");
  const json counts = {
      {"running", 0}, {"interrupted", 0}, {"paused", 1}, {"completed", 1}, {"stopped", 0}, {"failed", 1}};
  EXPECT_EQ(status["trials"], counts);
  const json config = {{"lr", 0.01}, {"units", 64}};
  EXPECT_EQ(status["best"]["config"], config);
  EXPECT_EQ(status["best"]["checkpoint"], "/x/checkpoint");
}

TEST(Status, HasNoBestAndIsNewBeforeAnythingHappened) {
  const Fields record = status_record(History(sample_spec()), Controller::absent, {});
  const json status = json::parse(render(record, Format::json));
  EXPECT_EQ(status["state"], "new");
  EXPECT_TRUE(status["best"].is_null());
  EXPECT_EQ(status["budget"]["remaining"], 100.0);
}

TEST(Status, NothingRunsWithoutAController) {
  SampleLog log;
  log.add(TrialStarted{
      .trial = TrialId{0}, .config = sample_config(0.1, 32), .until = 2, .why = {.rule = Rule::uniform_draw}});
  const History history = replay(sample_spec(), log.events());
  EXPECT_EQ(count_trials(history, Controller::present).running, 1);
  EXPECT_EQ(count_trials(history, Controller::absent).running, 0);
  EXPECT_EQ(count_trials(history, Controller::absent).interrupted, 1);
  EXPECT_EQ(study_state(history, Controller::present), "running");
  EXPECT_EQ(study_state(history, Controller::absent), "interrupted");
}

TEST(Status, IsFinishedAfterTheEndAndOpenAgainAfterARaise) {
  SampleLog log = sample_log();
  log.add(StudyFinished{.reason = "the budget is spent"});
  EXPECT_EQ(study_state(replay(sample_spec(), log.events()), Controller::absent), "finished");
  log.add(BudgetChanged{.total = 2e6});
  EXPECT_EQ(study_state(replay(sample_spec(), log.events()), Controller::absent), "interrupted");
}

TEST(Listings, TrialsAndLedgerHaveTheNamesThatScriptsRelyOn) {
  const json trials = json::parse(render(trials_table(sample_history(), Controller::absent), Format::json));
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[1]["trial"], 1);
  EXPECT_EQ(trials[1]["state"], "completed");
  EXPECT_EQ(trials[1]["epochs"], 3);
  EXPECT_EQ(trials[1]["best"], 0.9);
  EXPECT_TRUE(trials[2]["best"].is_null());
  EXPECT_EQ(trials[2]["config"]["units"], 256);
  EXPECT_TRUE(trials[0].contains("spent"));

  const json rows = json::parse(render(ledger_table(sample_log().events()), Format::json));
  ASSERT_EQ(rows.size(), 9u);
  double sum = 0.0;
  for (const json& row : rows) sum += row["cost"].get<double>();
  EXPECT_EQ(sum, sample_history().budget().spent());
  EXPECT_EQ(rows[0]["kind"], "start-up");
}

TEST(Listings, DecisionsCarryTheirRule) {
  const json rows = json::parse(render(decisions_table(sample_log().events()), Format::json));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0]["event"], "start");
  EXPECT_EQ(rows[0]["until"], 2);
  EXPECT_EQ(rows[0]["why"], "uniform random draw (bracket 1, rung 0)");
  EXPECT_EQ(rows[5]["event"], "failed");
}

TEST(Ledger, EpochsPastWhatWasDecidedAreAKindOfTheirOwn) {
  const TrialId trial{0};
  const auto measured = [&](Epoch epoch) { return Measured{trial, {epoch, 0.5, 1.0}}; };
  const std::vector<Event> events = {TrialStarted{.trial = trial, .config = {{0.5}}, .until = 2},
                                     measured(1),
                                     measured(2),
                                     SegmentDone{trial},
                                     measured(3),
                                     TrialResumed{.trial = trial, .until = 5},
                                     measured(4)};
  std::vector<StoredEvent> log;
  for (const Event& event : events) log.push_back({.seq = std::ssize(log) + 1, .event = event});
  std::vector<std::string_view> kinds;
  for (const Charge& charge : ledger(log)) kinds.push_back(word(charge.kind));
  EXPECT_EQ(kinds, (std::vector<std::string_view>{"epoch", "epoch", "ahead", "epoch"}));
  EXPECT_EQ(training_of(spending(ledger(log))), 4.0) << "they are points of the curve, not overhead";
}

}  // namespace summary_test
}  // namespace bapi
