#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bapi/control/evaluator.h"

// The laws of every Evaluator. A test file instantiates EvaluatorContract with one EvaluatorKind per implementation.
namespace bapi {

// How a trial of the contract behaves; its last epoch is kContractEpochs.
enum class Plan {
  fine,      // trains as long as it may
  diverges,  // its third epoch is not a number
  ends,      // ends by itself, in order, after four epochs
};

inline constexpr Epoch kContractEpochs = 12;

struct EvaluatorKind {
  std::string name;

  // An evaluator with two workers, and configurations that behave as planned.
  class Lab {
   public:
    virtual ~Lab() = default;
    virtual Evaluator& evaluator() = 0;
    virtual Config config(Plan plan) const = 0;
  };
  std::function<std::unique_ptr<Lab>()> make_lab;
};

inline void PrintTo(const EvaluatorKind& kind, std::ostream* out) { *out << kind.name; }

class EvaluatorContract : public ::testing::TestWithParam<EvaluatorKind> {
 protected:
  using Facts = std::vector<Event>;

  EvaluatorContract() : lab_(GetParam().make_lab()) {}

  Evaluator& evaluator() { return lab_->evaluator(); }

  void start(int trial, Epoch from, Epoch until, Plan plan = Plan::fine, Epoch max_epoch = kContractEpochs) {
    evaluator().start({.trial = TrialId{trial},
                       .config = lab_->config(plan),
                       .from = from,
                       .until = until,
                       .max_epoch = max_epoch,
                       .budget_left = 100.0});
  }

  bool is_live(int trial) {
    const std::vector<TrialId> live = evaluator().live();
    return std::find(live.begin(), live.end(), TrialId{trial}) != live.end();
  }

  // All facts until `enough` holds of them.
  Facts wait_until(const std::function<bool(const Facts&)>& enough) {
    Facts facts;
    for (int patience = 0; !enough(facts) && patience < 200; ++patience) {
      const Facts more = evaluator().wait(0.1);
      facts.insert(facts.end(), more.begin(), more.end());
    }
    EXPECT_TRUE(enough(facts)) << "it does not happen";
    return facts;
  }

  Facts wait_for_segments(int count) {
    return wait_until([&](const Facts& facts) { return number_of<SegmentDone>(facts) >= count; });
  }

  Facts let_go(int trial) {
    evaluator().release(TrialId{trial});
    const Facts facts = wait_until([&](const Facts&) { return !is_live(trial); });
    const Facts late = evaluator().wait(0.0);
    Facts all = facts;
    all.insert(all.end(), late.begin(), late.end());
    return all;
  }

  template <typename Fact>
  static int number_of(const Facts& facts) {
    return static_cast<int>(std::count_if(
        facts.begin(), facts.end(), [](const Event& fact) { return std::holds_alternative<Fact>(fact); }));
  }

  static std::vector<Epoch> epochs_of(const Facts& facts, int trial = 0) {
    std::vector<Epoch> epochs;
    for (const Event& fact : facts) {
      const auto* measured = std::get_if<Measured>(&fact);
      if (measured && measured->trial == TrialId{trial}) epochs.push_back(measured->measurement.epoch);
    }
    return epochs;
  }

  static std::vector<Epoch> from_to(Epoch first, Epoch last) {
    std::vector<Epoch> epochs;
    for (Epoch epoch = first; epoch <= last; ++epoch) epochs.push_back(epoch);
    return epochs;
  }

  static Epoch last_epoch(const Facts& facts, Epoch otherwise) {
    const std::vector<Epoch> epochs = epochs_of(facts);
    return epochs.empty() ? otherwise : epochs.back();
  }

 private:
  std::unique_ptr<EvaluatorKind::Lab> lab_;
};

TEST_P(EvaluatorContract, NothingHappensUnlessSomethingIsStarted) {
  EXPECT_TRUE(evaluator().live().empty());
  EXPECT_TRUE(evaluator().wait(0.01).empty());
  EXPECT_EQ(evaluator().running().accrued, 0.0);
  EXPECT_EQ(evaluator().running().rate, 0.0);
  evaluator().release(TrialId{3});
  EXPECT_TRUE(evaluator().wait(0.01).empty());
}

TEST_P(EvaluatorContract, EpochsArriveInOrderAndTheLastOfTheSegmentIsFollowedBySegmentDone) {
  start(0, 0, 3);
  EXPECT_TRUE(is_live(0));
  const Facts facts = wait_for_segments(1);
  const std::vector<Epoch> epochs = epochs_of(facts);
  ASSERT_GE(epochs.size(), 3u);
  EXPECT_EQ(epochs, from_to(1, epochs.back()));
  const auto last = std::find_if(facts.begin(), facts.end(), [](const Event& fact) {
    const auto* measured = std::get_if<Measured>(&fact);
    return measured && measured->measurement.epoch == 3;
  });
  ASSERT_NE(last, facts.end());
  EXPECT_EQ(*(last + 1), Event(SegmentDone{TrialId{0}}));
}

TEST_P(EvaluatorContract, ATrialThatIsChosenAgainGoesOnWithoutRepeats) {
  start(0, 0, 2);
  Facts facts = wait_for_segments(1);
  for (const Epoch until : {5, 9, 12}) {
    const Epoch from = last_epoch(facts, 0);
    if (from >= until) continue;
    start(0, from, until);
    const Facts more = wait_for_segments(1);
    EXPECT_EQ(number_of<SegmentDone>(more), 1);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  EXPECT_EQ(epochs_of(facts), from_to(1, kContractEpochs));
  EXPECT_EQ(number_of<TrialFailed>(facts), 0);
}

TEST_P(EvaluatorContract, AReleasedTrialContinuesAfterItsLastEpoch) {
  start(0, 0, 2);
  Facts facts = wait_for_segments(1);
  const Facts late = let_go(0);
  facts.insert(facts.end(), late.begin(), late.end());
  const Epoch from = last_epoch(facts, 2);
  if (from < kContractEpochs) {
    start(0, from, kContractEpochs);
    const Facts more = wait_for_segments(1);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  EXPECT_EQ(epochs_of(facts), from_to(1, kContractEpochs));
}

TEST_P(EvaluatorContract, ReleaseDoesNotCloseTheSegment) {
  start(0, 0, kContractEpochs);
  wait_until([](const Facts& facts) { return number_of<Measured>(facts) >= 1; });
  const Facts facts = let_go(0);
  const bool finished_first = last_epoch(facts, 0) == kContractEpochs;
  EXPECT_EQ(number_of<SegmentDone>(facts), finished_first ? 1 : 0);
  EXPECT_EQ(number_of<TrialFailed>(facts) + number_of<ProgramEnded>(facts), 0);
  EXPECT_EQ(evaluator().running().accrued, 0.0);
  EXPECT_EQ(evaluator().running().rate, 0.0);
}

TEST_P(EvaluatorContract, NothingPastTheLastPayableEpochIsAFact) {
  start(0, 0, 4, Plan::fine, 4);
  Facts facts = wait_for_segments(1);
  for (int i = 0; i < 5; ++i) {
    const Facts more = evaluator().wait(0.02);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  EXPECT_EQ(epochs_of(facts), from_to(1, 4));
}

TEST_P(EvaluatorContract, AFailureIsAFactAndEndsTheTrial) {
  start(0, 0, 5, Plan::diverges);
  const Facts facts = wait_until([&](const Facts& seen) { return number_of<TrialFailed>(seen) > 0 && !is_live(0); });
  EXPECT_EQ(epochs_of(facts), from_to(1, 2));
  EXPECT_EQ(number_of<SegmentDone>(facts), 0);
  EXPECT_EQ(number_of<TrialFailed>(facts), 1);
}

TEST_P(EvaluatorContract, AProgramThatEndsEarlyInOrderIsNoFailure) {
  start(0, 0, 9, Plan::ends);
  const Facts facts = wait_until([&](const Facts& seen) { return number_of<ProgramEnded>(seen) > 0 && !is_live(0); });
  EXPECT_EQ(epochs_of(facts), from_to(1, 4));
  EXPECT_EQ(number_of<TrialFailed>(facts), 0);
}

TEST_P(EvaluatorContract, TrialsTrainSideBySideWithoutMixing) {
  start(0, 0, 5);
  start(1, 0, 7, Plan::fine, 7);
  const Facts facts = wait_for_segments(2);
  for (const int trial : {0, 1}) {
    const std::vector<Epoch> epochs = epochs_of(facts, trial);
    ASSERT_GE(epochs.size(), 5u);
    EXPECT_EQ(epochs, from_to(1, epochs.back())) << trial;
  }
}

TEST_P(EvaluatorContract, CostsAreNeverNegative) {
  start(0, 0, 4);
  start(1, 0, 6, Plan::diverges);
  Facts facts = wait_for_segments(1);
  for (const int trial : {0, 1}) {
    const Facts more = let_go(trial);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  EXPECT_GE(number_of<Measured>(facts), 4);
  for (const Event& fact : facts) {
    const auto* measured = std::get_if<Measured>(&fact);
    const auto* overhead = std::get_if<Overhead>(&fact);
    EXPECT_TRUE(!measured || measured->measurement.cost >= 0.0);
    EXPECT_TRUE(!overhead || overhead->cost > 0.0);
  }
}

}  // namespace bapi
