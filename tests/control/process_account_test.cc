#include "bapi/control/process_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bapi/base/rng.h"

namespace bapi {
namespace process_account_test {

constexpr TrialId kTrial{4};
constexpr double kStart = 100.0;

StudySpec spec_in(Meter meter) {
  StudySpec spec;
  spec.metric.name = "accuracy";
  spec.budget = {.limit = 1000.0, .unit = "unit", .meter = meter};
  spec.epochs.max = 100;
  return spec;
}

class Account : public testing::Test {
 protected:
  void open(Meter meter, const std::vector<Cost>& curve = {}, Epoch max_epoch = 100) {
    spec_ = spec_in(meter);
    Curve known;
    for (const Cost cost : curve) known.append({known.last_epoch() + 1, 0.5, cost});
    account_.emplace(spec_,
                     ProcessAccount::Opening{.trial = kTrial,
                                             .last_epoch = known.last_epoch(),
                                             .usual_epoch = usual_epoch_cost(known),
                                             .from = known.last_epoch(),
                                             .max_epoch = max_epoch,
                                             .charged_until = kStart});
  }

  Reading note(const Reading& reading) {
    facts_.insert(facts_.end(), reading.facts.begin(), reading.facts.end());
    return reading;
  }
  Reading say(Epoch epoch, double at, std::optional<double> value = 0.5, std::optional<double> cost = {}) {
    return note(
        account_->take(EpochReport{.epoch = epoch, .value = value, .cost = cost, .text = "{...}"}, kStart + at));
  }
  Reading state(Epoch epoch, double at, Cost cost, double value = 0.5) {
    return note(account_->take_epoch(EpochReport{.epoch = epoch, .value = value, .cost = cost, .text = "{...}"},
                                     StatedCost{.cost = cost, .until = kStart + at}));
  }
  void ready(double at) { note(account_->take(ReadyReport{}, kStart + at)); }
  void close(OverheadKind kind, double at) { note({.facts = account_->close(kind, kStart + at)}); }

  static Event measured(Epoch epoch, Cost cost) {
    return Measured{kTrial, {.epoch = epoch, .value = 0.5, .cost = cost}};
  }
  static Event overhead(OverheadKind kind, Epoch epoch, Cost cost) { return Overhead{kTrial, kind, epoch, cost}; }

  StudySpec spec_;
  std::optional<ProcessAccount> account_;
  std::vector<Event> facts_;
};

using Kind = Reading::Kind;

TEST_F(Account, TimeForWhichItWasHeldIsNotThatOfTheEpoch) {
  open(Meter::accrued);
  ready(2.0);
  say(1, 5.0);
  note({.facts = account_->held_for(OverheadKind::snapshot, 0.5)});  // from 5.25 to 5.75
  say(2, 9.0);
  EXPECT_EQ(facts_,
            (std::vector<Event>{overhead(OverheadKind::start_up, 1, 2.0),
                                measured(1, 3.0),
                                overhead(OverheadKind::snapshot, 2, 0.5),
                                measured(2, 3.5)}));
  EXPECT_EQ(account_->spent(), 9.0);
}

TEST_F(Account, TimeIsStartUpThenEpochsThenGrace) {
  open(Meter::accrued);
  ready(2.0);
  say(1, 5.0);
  say(2, 9.0);
  close(OverheadKind::grace, 9.5);
  EXPECT_EQ(facts_,
            (std::vector<Event>{overhead(OverheadKind::start_up, 1, 2.0),
                                measured(1, 3.0),
                                measured(2, 4.0),
                                overhead(OverheadKind::grace, 3, 0.5)}));
  EXPECT_EQ(account_->spent(), 9.5);
}

TEST_F(Account, MoneyFollowsTime) {
  open(Meter::accrued);
  spec_.budget.per_hour = 7200.0;
  say(1, 5.0);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(1, 10.0)}));
}

TEST_F(Account, EpochZeroMarksTheEndOfStartUp) {
  open(Meter::accrued);
  say(0, 2.0, std::nullopt);
  say(0, 2.5, std::nullopt);
  say(1, 5.0);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::start_up, 1, 2.0), measured(1, 3.0)}));
}

TEST_F(Account, TheFirstIntervalOfAFreshTrialBelongsToItsEpoch) {
  open(Meter::accrued);
  say(1, 7.0);
  ready(8.0);  // too late to matter
  say(2, 9.0);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(1, 7.0), measured(2, 2.0)}));
}

TEST_F(Account, TheFirstIntervalOfAResumedTrialIsSplitByItsUsualEpoch) {
  open(Meter::accrued, {9.0, 8.0, 2.0});  // the first of two processes had start-up in it
  say(4, 7.0);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::start_up, 4, 5.0), measured(4, 2.0)}));
}

TEST_F(Account, AFirstIntervalShorterThanTheUsualEpochIsNotSplit) {
  open(Meter::accrued, {2.0, 2.0, 9.0});
  say(4, 1.5);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(4, 1.5)}));
}

TEST_F(Account, TheEpochOfTheCheckpointMarksTheEndOfStartUp) {
  open(Meter::accrued, {1.0, 2.0, 9.0});
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
  open(Meter::accrued);
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

// Saved, then ended, before it was reported: the next process continues after it.
TEST_F(Account, AnUnreportedEpochIsAGapWhoseTimeWasPaidBefore) {
  open(Meter::accrued, {1.0, 1.0});
  ready(2.0);
  EXPECT_EQ(say(4, 3.0).kind, Kind::taken);
  say(5, 4.0);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::start_up, 3, 2.0), measured(4, 1.0), measured(5, 1.0)}));
}

TEST_F(Account, AnUnreportedEpochIsCountedOrCostsWhatTheNextOneDoes) {
  open(Meter::epochs, {1.0, 1.0});
  say(5, 1.0);
  EXPECT_EQ(
      facts_,
      (std::vector<Event>{
          overhead(OverheadKind::unreported, 3, 1.0), overhead(OverheadKind::unreported, 4, 1.0), measured(5, 1.0)}));
  EXPECT_EQ(account_->spent(), 3.0);
  facts_.clear();
  open(Meter::reported, {1.0, 1.0});
  say(4, 1.0, 0.5, 2.5);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::unreported, 3, 2.5), measured(4, 2.5)}));
}

TEST_F(Account, AnUnreportedEpochIsChargedOnce) {
  spec_ = spec_in(Meter::epochs);
  account_.emplace(spec_,
                   ProcessAccount::Opening{.trial = kTrial, .last_epoch = 2, .paid = 4, .from = 2, .max_epoch = 100});
  say(6, 1.0);  // epochs 3 and 4 are in the log, the budget could not pay more then
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::unreported, 5, 1.0), measured(6, 1.0)}));
  EXPECT_EQ(account_->paid(), 6);
}

TEST_F(Account, ADivergedEpochAfterAGapIsPaidForWithIt) {
  open(Meter::epochs, {1.0});
  EXPECT_EQ(say(3, 1.0, NAN).kind, Kind::failure);
  EXPECT_EQ(facts_,
            (std::vector<Event>{overhead(OverheadKind::unreported, 2, 1.0), overhead(OverheadKind::failed, 3, 1.0)}));
}

TEST_F(Account, OnlyTheFirstReportOfAContinuedTrialMayLeaveEpochsOut) {
  open(Meter::epochs, {1.0, 1.0});
  say(4, 1.0);
  const Reading skipped = say(6, 2.0);
  EXPECT_EQ(skipped.kind, Kind::failure);
  EXPECT_NE(skipped.message.find("reported epoch 6 where epoch 5 was expected"), std::string::npos);
  open(Meter::epochs);
  EXPECT_EQ(say(2, 1.0).kind, Kind::failure) << "nothing was trained before";
  account_.emplace(
      spec_, ProcessAccount::Opening{.trial = kTrial, .continued = true, .max_epoch = 100});  // the first was ended
  EXPECT_EQ(say(2, 1.0).kind, Kind::taken);
}

TEST_F(Account, AProgramThatLeavesOutManyEpochsFails) {
  open(Meter::epochs, {1.0, 1.0});
  EXPECT_EQ(account_->furthest_report(), 3 + kMostUnreported);
  const Reading reading = say(4 + kMostUnreported, 1.0);
  EXPECT_EQ(reading.kind, Kind::failure);
  EXPECT_NE(reading.message.find("was to continue after epoch 2, but reported epoch 7 first"), std::string::npos);
  EXPECT_NE(reading.message.find("expected an epoch up to 6"), std::string::npos);
  EXPECT_TRUE(facts_.empty());
}

TEST_F(Account, AnEpochPastTheLastOneAfterAGapIsBeyond) {
  open(Meter::epochs, std::vector<Cost>(99, 1.0));
  EXPECT_EQ(say(101, 1.0).kind, Kind::beyond) << "epoch 100 was saved and never reported";
  EXPECT_TRUE(facts_.empty());
}

// A program that saves, then reports, and is ended at any instant: every epoch that is known to have been trained is
// charged exactly once, and has a point unless its report was prevented.
TEST_F(Account, EndingsAtAnyInstantChargeEveryEpochOnce) {
  for (int study = 0; study < 200; ++study) {
    Rng rng = Rng(7).fork("study", static_cast<std::uint64_t>(study));
    spec_ = spec_in(Meter::epochs);
    Epoch saved = 0;
    Epoch last = 0;
    Epoch paid = 0;
    int silent = 0;  // processes in a row that were ended before their first report
    std::map<Epoch, int> charged;
    std::vector<Epoch> points;
    for (int process = 0; saved < 40; ++process) {
      ProcessAccount account(spec_,
                             {.trial = kTrial,
                              .last_epoch = last,
                              .paid = paid,
                              .from = last,
                              .continued = process > 0,
                              .max_epoch = 100});
      const int epochs = 1 + rng.below(4);
      const bool ended_before_report = silent < kMostUnreported - 1 && rng.below(2) == 0;
      for (int i = 0; i < epochs; ++i) {
        ++saved;
        if (i + 1 == epochs && ended_before_report) break;
        const Reading reading =
            account.take_epoch({.epoch = saved, .value = 0.5, .cost = {}, .text = {}}, MeasuredTime{});
        ASSERT_EQ(reading.kind, Kind::taken) << reading.message;
        for (const Event& fact : reading.facts) {
          if (const auto* point = std::get_if<Measured>(&fact)) {
            points.push_back(point->measurement.epoch);
            ++charged[point->measurement.epoch];
          } else {
            ++charged[std::get<Overhead>(fact).epoch];
          }
        }
      }
      silent = account.last_epoch() > last ? 0 : silent + 1;
      last = account.last_epoch();
      paid = account.paid();
    }
    EXPECT_TRUE(std::ranges::is_sorted(points));
    EXPECT_EQ(std::ssize(charged), last);
    for (const auto& [epoch, times] : charged) EXPECT_EQ(times, 1) << "epoch " << epoch;
  }
}

TEST_F(Account, ADivergedEpochIsPaidForOnce) {
  open(Meter::epochs);
  EXPECT_EQ(say(1, 1.0, NAN).kind, Kind::failure);
  EXPECT_EQ(facts_, (std::vector<Event>{overhead(OverheadKind::failed, 1, 1.0)}));
  facts_.clear();
  open(Meter::accrued);
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
  open(Meter::accrued, {0.3});
  double at = 0.0;
  for (Epoch epoch = 2; epoch < 50; ++epoch) say(epoch, at += 0.1 * (epoch % 7));
  close(OverheadKind::grace, at += 0.7);
  EXPECT_NEAR(account_->spent(), at, 1e-9);
}

TEST_F(Account, AStatedCostIsRecordedToTheLastBitAndPaysTheTimeUpToItsReport) {
  open(Meter::accrued);
  state(1, 5.0, 0.1);
  state(2, 5.0, 1e-9);
  state(3, 9.0, 0.0);
  say(4, 11.0);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(1, 0.1), measured(2, 1e-9), measured(3, 0.0), measured(4, 2.0)}));
}

TEST_F(Account, AStatedCostOfAResumedTrialIsNotSplit) {
  open(Meter::accrued, {0.1, 0.1});
  state(3, 1.0, 5.0);
  EXPECT_EQ(facts_, (std::vector<Event>{measured(3, 5.0)}));
}

TEST_F(Account, AStatedCostOfARepeatedOrDivergedEpochIsPaid) {
  open(Meter::accrued, {0.1, 0.1});
  state(1, 1.0, 5.0);
  state(2, 2.0, 6.0);
  EXPECT_EQ(state(3, 3.0, 7.0, NAN).kind, Kind::failure);
  close(OverheadKind::failed, 3.0);
  EXPECT_EQ(facts_,
            (std::vector<Event>{overhead(OverheadKind::repeat, 1, 5.0),
                                overhead(OverheadKind::repeat, 2, 6.0),
                                overhead(OverheadKind::failed, 3, 7.0)}));
}

TEST_F(Account, ACostThatWouldMakeTheSumInfiniteIsAFailure) {
  open(Meter::reported);
  EXPECT_NE(say(1, 1.0, 0.5, 1e308).message.find("at most 1e+15"), std::string::npos);
  EXPECT_EQ(say(1, 1.0, 0.5, INFINITY).kind, Kind::failure);
  EXPECT_TRUE(facts_.empty());
  EXPECT_EQ(say(1, 1.0, 0.5, 1e15).kind, Kind::taken);
}

}  // namespace process_account_test
}  // namespace bapi
