#include "bapi/control/process_account.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bapi {
namespace {

constexpr TrialId kTrial{4};
constexpr double kStart = 100.0;

StudySpec spec_in(Meter meter) {
  StudySpec spec;
  spec.metric.name = "accuracy";
  spec.budget = {.limit = 1000.0, .unit = "unit", .meter = meter};
  return spec;
}

class Account : public testing::Test {
 protected:
  void open(Meter meter, const std::vector<Cost>& curve = {}, Epoch max_epoch = 100) {
    spec_ = spec_in(meter);
    progress_ = {.epoch_costs = curve, .spent = 0.0};
    account_.emplace(
        spec_,
        progress_,
        ProcessAccount::Opening{
            .trial = kTrial, .from = progress_.last_epoch(), .max_epoch = max_epoch, .charged_until = kStart});
  }

  Reading say(Epoch epoch, double at, std::optional<double> value = 0.5, std::optional<double> cost = {}) {
    return account_->take(
        EpochReport{.epoch = epoch, .value = value, .cost = cost, .text = "{...}"}, kStart + at, facts_);
  }
  void ready(double at) { account_->take(ReadyReport{}, kStart + at, facts_); }
  void close(OverheadKind kind, double at) { account_->close(kind, kStart + at, facts_); }

  static Event measured(Epoch epoch, Cost cost) {
    return Measured{kTrial, {.epoch = epoch, .value = 0.5, .cost = cost}};
  }
  static Event overhead(OverheadKind kind, Epoch epoch, Cost cost) { return Overhead{kTrial, kind, epoch, cost}; }

  StudySpec spec_;
  TrialProgress progress_;
  std::optional<ProcessAccount> account_;
  std::vector<Event> facts_;
};

using Kind = Reading::Kind;

TEST_F(Account, TimeIsStartUpThenEpochsThenGrace) {
  open(Meter::seconds);
  ready(2.0);
  say(1, 5.0);
  say(2, 9.0);
  close(OverheadKind::grace, 9.5);
  EXPECT_EQ(facts_,
            (std::vector<Event>{overhead(OverheadKind::start_up, 1, 2.0),
                                measured(1, 3.0),
                                measured(2, 4.0),
                                overhead(OverheadKind::grace, 3, 0.5)}));
  EXPECT_EQ(progress_.spent, 9.5);
}

TEST_F(Account, MoneyFollowsTime) {
  open(Meter::seconds);
  spec_.budget.per_hour = 7200.0;
  say(1, 5.0);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(1, 10.0)}));
}

TEST_F(Account, EpochZeroMarksTheEndOfStartUp) {
  open(Meter::seconds);
  say(0, 2.0, std::nullopt);
  say(0, 2.5, std::nullopt);
  say(1, 5.0);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::start_up, 1, 2.0), measured(1, 3.0)}));
}

TEST_F(Account, TheFirstIntervalOfAFreshTrialBelongsToItsEpoch) {
  open(Meter::seconds);
  say(1, 7.0);
  ready(8.0);  // too late to matter
  say(2, 9.0);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(1, 7.0), measured(2, 2.0)}));
}

TEST_F(Account, TheFirstIntervalOfAResumedTrialIsSplitByItsUsualEpoch) {
  open(Meter::seconds, {9.0, 8.0, 2.0});  // the first of two processes had start-up in it
  say(4, 7.0);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::start_up, 4, 5.0), measured(4, 2.0)}));
}

TEST_F(Account, AFirstIntervalShorterThanTheUsualEpochIsNotSplit) {
  open(Meter::seconds, {2.0, 2.0, 9.0});
  say(4, 1.5);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(4, 1.5)}));
}

TEST_F(Account, TheEpochOfTheCheckpointMarksTheEndOfStartUp) {
  open(Meter::seconds, {1.0, 2.0, 9.0});
  say(3, 6.0);
  say(4, 9.0);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::start_up, 4, 6.0), measured(4, 3.0)}));
}

TEST_F(Account, EpochsOnTheCurveAreRepeats) {
  open(Meter::epochs, {1.0, 1.0, 1.0});
  say(2, 1.0);
  say(3, 2.0);
  say(4, 3.0);
  close(OverheadKind::grace, 9.0);
  EXPECT_EQ(facts_,
            (std::vector<Event>{
                overhead(OverheadKind::repeat, 2, 1.0), overhead(OverheadKind::repeat, 3, 1.0), measured(4, 1.0)}));
}

TEST_F(Account, WhatIsSaidTwiceCountsOnceAndItsTimeGoesToTheNextEpoch) {
  open(Meter::seconds);
  say(1, 2.0);
  EXPECT_EQ(say(1, 3.0).kind, Kind::ignored);
  say(2, 5.0);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(1, 2.0), measured(2, 3.0)}));
}

TEST_F(Account, ReportedCostsAreTakenAndZeroOverheadIsNoFact) {
  open(Meter::reported, {1.0});
  say(1, 1.0, 0.5, 0.0);
  say(2, 2.0, 0.5, 2.5);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(2, 2.5)}));
}

TEST_F(Account, NothingPastTheLastPayableEpochIsTaken) {
  open(Meter::epochs, {}, 2);
  say(1, 1.0);
  say(2, 2.0);
  EXPECT_EQ(say(3, 3.0).kind, Kind::beyond);
  EXPECT_EQ(say(9, 4.0).kind, Kind::beyond);
  account_->raise_max_epoch(3);
  EXPECT_EQ(say(3, 5.0).kind, Kind::taken);
  EXPECT_EQ(facts_.size(), 3u);
}

TEST_F(Account, AGapIsAFailureEvenPastTheLastPayableEpoch) {
  open(Meter::epochs, {}, 5);
  say(1, 1.0);
  EXPECT_EQ(say(9, 2.0).kind, Kind::failure);
  EXPECT_EQ(say(3, 3.0).kind, Kind::failure);
  EXPECT_EQ(facts_.size(), 1u);
}

TEST_F(Account, ADivergedEpochIsPaidForOnce) {
  open(Meter::epochs);
  EXPECT_EQ(say(1, 1.0, NAN).kind, Kind::failure);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::failed, 1, 1.0)}));
  facts_.clear();
  open(Meter::seconds);
  EXPECT_EQ(say(1, 3.0, INFINITY).kind, Kind::failure);
  close(OverheadKind::failed, 4.0);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::failed, 1, 4.0)}));
}

TEST_F(Account, CostsThatAreMissingNegativeOrNotFiniteAreFailures) {
  open(Meter::reported);
  EXPECT_NE(say(1, 1.0).message.find("has no \"cost\""), std::string::npos);
  EXPECT_EQ(say(1, 1.0, 0.5, -1.0).kind, Kind::failure);
  EXPECT_EQ(say(1, 1.0, 0.5, NAN).kind, Kind::failure);
  EXPECT_TRUE(facts_.empty());
}

TEST_F(Account, ChargesNeverExceedTheLifeOfTheProcess) {
  open(Meter::seconds, {0.3});
  double at = 0.0;
  for (Epoch epoch = 2; epoch < 50; ++epoch) say(epoch, at += 0.1 * (epoch % 7));
  close(OverheadKind::grace, at += 0.7);
  EXPECT_NEAR(progress_.spent, at, 1e-9);
}

}  // namespace
}  // namespace bapi
