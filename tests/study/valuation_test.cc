#include "bapi/study/valuation.h"

#include <gtest/gtest.h>

#include "bapi/study/history.h"
#include "bapi/study/notices.h"
#include "bapi/study/progress.h"

namespace bapi {
namespace valuation_test {

Curve curve_of(const Valuation& valuation, const std::vector<double>& values) {
  Curve curve(valuation);
  for (std::size_t i = 0; i < values.size(); ++i) {
    curve.append({.epoch = static_cast<Epoch>(i) + 1, .value = values[i], .cost = 1.0});
  }
  return curve;
}

StudySpec spec_with(const Metric& metric) {
  StudySpec spec;
  spec.name = "noisy";
  spec.metric = metric;
  spec.budget = {.limit = 100.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 10};
  return spec;
}

// The log of trials with the given reports, one after the other.
std::vector<StoredEvent> log_of(const std::vector<std::vector<double>>& trials) {
  std::vector<StoredEvent> events;
  const auto add = [&](Event event) {
    events.push_back({.seq = std::ssize(events) + 1, .at = 0.0, .event = std::move(event)});
  };
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto id = TrialId{static_cast<std::int64_t>(i)};
    add(TrialStarted{.trial = id, .config = {{0.5}}, .until = static_cast<Epoch>(trials[i].size())});
    for (std::size_t t = 0; t < trials[i].size(); ++t) {
      add(Measured{.trial = id,
                   .measurement = {.epoch = static_cast<Epoch>(t) + 1, .value = trials[i][t], .cost = 1.0}});
    }
    add(SegmentDone{.trial = id});
  }
  return events;
}

TEST(Smoothed, IsTheMeanOfTheLastReportsAndOfFewerAtTheBeginning) {
  EXPECT_EQ(smoothed({4.0}, 3), 4.0);
  EXPECT_EQ(smoothed({4.0, 8.0}, 3), 6.0);
  EXPECT_NEAR(smoothed({100.0, 1.0, 2.0, 6.0}, 3), 3.0, 1e-15);
  EXPECT_EQ(smoothed({4.0, 8.0}, 1), 8.0);
}

TEST(Smoothed, DoesNotOverflowAndKeepsEqualReportsToTheLastBit) {
  EXPECT_NEAR(smoothed({1e308, 1e308, 1e308}, 3) / 1e308, 1.0, 1e-15);
  EXPECT_EQ(smoothed({0.1, 0.1, 0.1}, 3), 0.1);
}

TEST(Curve, WithoutAValuationIsWorthItsBestReport) {
  const Curve curve = curve_of({}, {0.1, 0.9, 0.4});
  EXPECT_EQ(curve.best(), 0.9);
  EXPECT_EQ(curve.best_epoch(), 2);
  EXPECT_EQ(curve.best_by(1), 0.1);
  EXPECT_EQ(curve.best_by(3), 0.9);
  EXPECT_EQ(curve.reports().data(), curve.points().data());
}

TEST(Curve, SmoothedIsWorthItsBestMeanAtTheLastEpochOfTheWindow) {
  const Curve curve = curve_of({.smooth = 2}, {0.0, 0.9, 0.1, 0.6, 0.6, 0.5});
  EXPECT_EQ(curve.points()[1].value, 0.45);
  EXPECT_EQ(curve.best(), 0.6);
  EXPECT_EQ(curve.best_epoch(), 5);
  EXPECT_EQ(curve.best_by(4), 0.5);
  EXPECT_EQ(curve.reports()[1].value, 0.9);
}

TEST(Curve, OfLastIsWorthItsLastReportHoweverGoodOthersWere) {
  const Curve curve = curve_of({.of = ValueOf::last}, {0.1, 0.9, 0.4});
  EXPECT_EQ(curve.best(), 0.4);
  EXPECT_EQ(curve.best_epoch(), 3);
  EXPECT_EQ(curve.best_by(2), 0.9);
}

TEST(History, OfLastGivesUpAnIncumbentThatBecameWorse) {
  const StudySpec spec = spec_with({.name = "score", .of = ValueOf::last});
  const History history = replay(spec, log_of({{0.5, 0.6}, {0.9, 0.2}, {0.55}}));
  EXPECT_EQ(history.incumbent(), TrialId{0});
  EXPECT_EQ(best(history)->value, 0.6);
  EXPECT_EQ(best(history)->epoch, 2);
}

TEST(History, SmoothedPrefersTheSteadyTrialToTheLuckyOneInEitherDirection) {
  const std::vector<StoredEvent> log = log_of({{0.5, 0.1, 0.5}, {0.3, 0.3, 0.3}});
  EXPECT_EQ(best(replay(spec_with({.name = "loss", .goal = Goal::minimize}), log))->trial, TrialId{0});
  const Best steady = *best(replay(spec_with({.name = "loss", .goal = Goal::minimize, .smooth = 2}), log));
  EXPECT_EQ(steady.trial, TrialId{0});  // (0.5 + 0.1) / 2 = (0.1 + 0.5) / 2 = 0.3, and it was first
  const Best steadier = *best(replay(spec_with({.name = "loss", .goal = Goal::minimize, .smooth = 3}), log));
  EXPECT_EQ(steadier.trial, TrialId{1});
  EXPECT_EQ(steadier.value, 0.3);
}

TEST(SpentReports, OfTrialsThatCountByTheirLastEpochAlsoTellWhenTheBestGetsWorse) {
  const StudySpec spec = spec_with({.name = "score", .of = ValueOf::last});
  const std::vector<SpentReport> changes = improvements(spec, log_of({{0.5, 0.6}, {0.9, 0.2}, {0.55}}));
  std::vector<double> bests;
  for (const SpentReport& report : changes) bests.push_back(report.best);
  EXPECT_EQ(bests, (std::vector<double>{0.5, 0.6, 0.9, 0.6}));
}

TEST(SpentReports, ReplayedAndFoldedAgreeWhereEveryReportCountsForItself) {
  const std::vector<StoredEvent> log = log_of({{0.5, 0.6}, {0.9, 0.2}, {0.9, 0.95}});
  StudySpec smooth = spec_with({.name = "score", .smooth = 2});
  smooth.metric.smooth = 1;
  std::vector<double> folded;
  for (const SpentReport& report : spent_reports(smooth, log)) folded.push_back(report.best);
  EXPECT_EQ(folded, (std::vector<double>{0.5, 0.6, 0.9, 0.9, 0.9, 0.95}));
  EXPECT_EQ(improvements(smooth, log).back().best, best(replay(smooth, log))->value);
}

TEST(NoticesByWhatCounts, TellOfANewBest) {
  const auto bests = [](const Metric& metric) {
    History history(spec_with(metric));
    NoticeWriter writer(history);
    std::vector<double> values;
    for (const StoredEvent& stored : log_of({{0.5, 0.9, 0.5}, {0.8, 0.8}})) {
      history.apply(stored.event);
      for (const Notice& notice : writer.of(stored.event, history)) {
        if (notice.kind == NoticeKind::best) values.push_back(*notice.value);
      }
    }
    return values;
  };
  EXPECT_EQ(bests({.name = "score"}), (std::vector<double>{0.5, 0.9}));
  EXPECT_EQ(bests({.name = "score", .of = ValueOf::last}), (std::vector<double>{0.5, 0.9, 0.8}));
  EXPECT_EQ(bests({.name = "score", .smooth = 2}), (std::vector<double>{0.5, 0.7, 0.8}));
}

}  // namespace valuation_test
}  // namespace bapi
