#include "bapi/dashboard/log_digest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/policy/registry.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/synthetic.h"
#include "tests/report/sample_study.h"

namespace bapi {
namespace {

ShownStudy shown(const StudySpec& spec, const std::vector<StoredEvent>& events) {
  return shown_study({{.dir = StudyDir("none"), .history = History(spec)}, events});
}

SimulationSummary simulated() {
  const CurveTable table = synthetic_table({.rows = 12, .dimensions = 2, .epochs = 10, .seed = 3});
  const PolicySpec policy{.name = "bapi"};
  return simulate(
      table, policy, *make_policy(policy), {.budget = 4.0 * table.mean_full_cost(), .seed = 5, .workers = 2});
}

void expect_the_same_study(const StudySpec& spec, const std::vector<StoredEvent>& events) {
  const ShownStudy study = shown(spec, events);
  ASSERT_FALSE(study.damage);
  const LogDigest& log = study.log;
  ASSERT_EQ(log.last(), std::ssize(events));
  for (const StoredEvent& stored : events) EXPECT_EQ(log.event(stored.seq, study.history), stored) << stored.seq;
  for (const Trial& trial : study.history.trials()) {
    std::vector<StoredEvent> its;
    for (const StoredEvent& stored : events) {
      if (trial_of(stored.event) == trial.id) its.push_back(stored);
    }
    EXPECT_EQ(log.events_of(trial.id, study.history), its);
    EXPECT_EQ(log.last_seen(trial.id), its.back().at);
  }
  EXPECT_EQ(log.spending(), spending(ledger(events)));
  EXPECT_EQ(log.first_decision_at(), first_decision_at(events));
  EXPECT_EQ(log.changed(), events.back().at);

  const std::vector<SpentReport> expected = improvements(spec, events);
  ASSERT_EQ(log.improvements().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(log.improvements()[i].spent, expected[i].spent);
    EXPECT_EQ(log.improvements()[i].best, expected[i].best);
    EXPECT_EQ(log.improvements()[i].trial, expected[i].trial);
  }
  EXPECT_EQ(log.reports(), std::ssize(spent_reports(spec, events)));

  const std::vector<ForecastOutcome> outcomes = forecast_outcomes(study.history, events);
  const std::vector<ForecastOutcome> folded = forecast_outcomes(study.history, log.trainings());
  ASSERT_EQ(folded.size(), outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(folded[i].seq, outcomes[i].seq);
    EXPECT_EQ(folded[i].value, outcomes[i].value);
    EXPECT_EQ(folded[i].cost, outcomes[i].cost);
    EXPECT_EQ(folded[i].cost_error, outcomes[i].cost_error);
  }
  EXPECT_EQ(calibration(folded), calibration(study.history, events));
}

TEST(LogDigest, TellsEverythingThatTheLogTells) {
  expect_the_same_study(sample_spec(), sample_log().events());
  expect_the_same_study(sample_spec(Goal::minimize), sample_log().events());
  const SimulationSummary summary = simulated();
  ASSERT_GT(summary.events.size(), 50U);
  expect_the_same_study(summary.history->spec(), summary.events);
}

TEST(LogDigest, KeepsReportsAsTheyWereWhereTheStudySmoothsThem) {
  StudySpec spec = sample_spec();
  spec.metric.smooth = 3;
  expect_the_same_study(spec, sample_log().events());
}

TEST(LogDigest, KeepsTheOtherMetricsOfReports) {
  SampleLog log = sample_log();
  std::vector<StoredEvent> events = log.events();
  for (StoredEvent& stored : events) {
    if (auto* report = std::get_if<Measured>(&stored.event)) report->others = OtherMetrics{{"loss", 0.25}};
  }
  expect_the_same_study(sample_spec(), events);
}

// What is told besides the reports is every event that is none.
TEST(LogDigest, HoldsReportsOnTheirCurvesAlone) {
  const SimulationSummary summary = simulated();
  const ShownStudy study = shown(summary.history->spec(), summary.events);
  for (const StoredEvent& stored : study.log.told()) EXPECT_FALSE(std::holds_alternative<Measured>(stored.event));
  EXPECT_EQ(std::ssize(study.log.told()) + study.log.reports(), study.log.last());
}

TEST(LogDigest, StopsWhereTheLogIsDamaged) {
  std::vector<StoredEvent> events = sample_log().events();
  events.push_back({.seq = std::ssize(events) + 1, .at = 2000.0, .event = measured(99, 1, 0.5, 1.0)});
  const ShownStudy study = shown(sample_spec(), events);
  ASSERT_TRUE(study.damage);
  EXPECT_EQ(study.damage->seq, std::ssize(events));
  EXPECT_EQ(study.damage->kind, "measured");
  EXPECT_EQ(study.log.last(), std::ssize(events) - 1);
}

// A study of a million reports is told by a few thousand points; the sums stay exact, and so does every change of the
// total.
TEST(LogDigest, KeepsNoMorePointsThanAPictureShows) {
  StudySpec spec = sample_spec();
  spec.budget.limit = 1e9;
  spec.epochs.max = 30'000;
  std::vector<StoredEvent> events;
  const auto add = [&](const Event& event) {
    const EventSeq seq = std::ssize(events) + 1;
    events.push_back({.seq = seq, .at = static_cast<double>(seq), .event = event});
  };
  add(TrialStarted{.trial = TrialId{0}, .config = sample_config(0.1, 32), .until = 30'000});
  for (Epoch epoch = 1; epoch <= 15'000; ++epoch) add(measured(0, epoch, epoch == 7000 ? 5.0 : 0.5, 0.1));
  add(BudgetChanged{.total = 2e9});
  for (Epoch epoch = 15'001; epoch <= 30'000; ++epoch) add(measured(0, epoch, 0.5, 0.1));
  const ShownStudy study = shown(spec, events);
  EXPECT_LT(study.log.burndown().size(), 10'000U);
  EXPECT_LT(study.log.dots().size(), 10'000U);
  EXPECT_EQ(study.log.burndown().back().spent, spending(ledger(events)));
  const auto& points = study.log.burndown();
  const auto step = std::find_if(points.begin(), points.end(), [](const BurndownPoint& p) { return p.total == 2e9; });
  ASSERT_NE(step, points.end());
  EXPECT_EQ(step->at, 15'002.0);
  EXPECT_EQ((step - 1)->total, 1e9);
  EXPECT_EQ((step - 1)->at, 15'002.0);
  const auto& dots = study.log.dots();
  EXPECT_TRUE(std::any_of(dots.begin(), dots.end(), [](const ReportDot& dot) { return dot.value == 5.0; }));
  const std::vector<BurndownPoint> few = thinned(points, 100);
  EXPECT_LE(few.size(), 110U);
  EXPECT_EQ(few.front().at, points.front().at);
  EXPECT_EQ(few.back().at, points.back().at);
}

}  // namespace
}  // namespace bapi
