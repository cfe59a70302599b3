// What holds for every policy in a study that trains its finalists again.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "bapi/study/progress.h"
#include "tests/support/brisk_policy.h"
#include "tests/support/ledger.h"
#include "tests/support/noisy_study.h"

namespace bapi {
namespace repeat_contract_test {

using test::brisk;
using test::NoisyTraining;
using test::train_noisy;

// For two finalists, two more trainings of 9 epochs each: 36 are kept back.
constexpr Cost kBudget = 130.0;
constexpr Cost kReserve = 36.0;

class RepeatContract : public testing::TestWithParam<std::string> {
 protected:
  static StudySpec spec_of(int workers) {
    StudySpec spec = test::noisy_spec(brisk(GetParam()), kBudget, 3);
    spec.workers = workers;
    spec.seed = 5;
    return spec;
  }

  static MemoryStore trained(const StudySpec& spec, const NoisyTraining& training = {}) {
    MemoryStore store(spec);
    train_noisy(store, training);
    return store;
  }
};

// Spent before the first repeat was decided.
Cost spent_on_search(const std::vector<StoredEvent>& events) {
  std::vector<StoredEvent> search;
  for (const StoredEvent& stored : events) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    if (start && start->assignment.repeat) break;
    search.push_back(stored);
  }
  return test::ledger_sum(search);
}

void expect_lawful_repeats(const History& history) {
  std::map<TrialId, std::set<int>> numbers;
  for (const TrialId id : history.repeats()) {
    const Trial& repeat = history.trial(id);
    const Trial& first = history.trial(repeat.assignment.repeat->of);
    EXPECT_EQ(repeat.config, first.config);
    EXPECT_EQ(repeat.asked_until, first.curve.last_epoch());
    EXPECT_TRUE(numbers[first.id].insert(repeat.assignment.repeat->number).second);
  }
}

TEST_P(RepeatContract, TheFinalistsAreRepeatedWithinTheBudgetAndTheLedgerSums) {
  for (const int workers : {1, 3}) {
    const MemoryStore store = trained(spec_of(workers));
    const History history = replay(store.spec(), store.events(0));
    EXPECT_TRUE(history.finished());
    EXPECT_LE(history.budget().spent(), kBudget);
    EXPECT_GT(history.budget().spent(), kBudget - 20.0);
    EXPECT_EQ(test::ledger_sum(store.events(0)), history.budget().spent());
    EXPECT_LE(spent_on_search(store.events(0)), kBudget - kReserve) << workers << " workers";
    expect_lawful_repeats(history);
    const std::vector<TrialId> ranked = finalists(history);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, ranked.size()); ++i) {
      EXPECT_EQ(standing_of(history, ranked[i])->trainings, 3) << workers << " workers, finalist " << i;
    }
    EXPECT_EQ(best(history)->trainings, 3);
  }
}

TEST_P(RepeatContract, TheSameSeedGivesTheSameLogAlsoWhenTheControllerDies) {
  const StudySpec spec = spec_of(2);
  const MemoryStore whole = trained(spec);
  EXPECT_EQ(trained(spec).events(0), whole.events(0));
  MemoryStore broken(spec);
  for (int i = 0; i < 300 && !replay(spec, broken.events(0)).finished(); ++i) train_noisy(broken, {}, 37);
  const History history = replay(spec, broken.events(0));
  EXPECT_TRUE(history.finished());
  EXPECT_LE(history.budget().spent(), kBudget);
  expect_lawful_repeats(history);
}

TEST_P(RepeatContract, ALargerBudgetContinuesTheSearchAndRepeatsTheNewFinalists) {
  MemoryStore store = trained(spec_of(1));
  const std::size_t before = replay(store.spec(), store.events(0)).repeats().size();
  const std::size_t trials = replay(store.spec(), store.events(0)).trials().size();
  ASSERT_TRUE(store.append(std::ssize(store.events(0)),
                           std::vector<Event>{BudgetChanged{.total = 2.0 * kBudget}},
                           0.0,
                           Durability::process));
  train_noisy(store, {});
  const History history = replay(store.spec(), store.events(0));
  EXPECT_LE(history.budget().spent(), 2.0 * kBudget);
  EXPECT_GT(history.budget().spent(), 2.0 * kBudget - 60.0);  // what no repeat of a long enough trial can use is left
  EXPECT_GT(history.trials().size(), trials);
  EXPECT_GE(history.repeats().size(), before);
  EXPECT_EQ(best(history)->trainings, 3);
}

TEST_P(RepeatContract, ARepeatThatFailsDoesNotCountAndIsNotTrainedAgain) {
  const MemoryStore store = trained(spec_of(1), {.fails = [](const Trial& trial) {
                                      return trial.assignment.repeat && trial.assignment.repeat->number == 2;
                                    }});
  const History history = replay(store.spec(), store.events(0));
  expect_lawful_repeats(history);
  for (const Standing& standing : leaderboard(history)) EXPECT_LE(standing.trainings, 2);
  EXPECT_EQ(best(history)->trainings, 2);
}

TEST_P(RepeatContract, TrialsThatCountByTheirLastEpochAreTunedToo) {
  StudySpec spec = spec_of(2);
  spec.metric.of = ValueOf::last;
  spec.metric.smooth = 2;
  const History history = [&] {
    const MemoryStore store = trained(spec, {.epoch_noise = 0.1});
    return replay(spec, store.events(0));
  }();
  EXPECT_TRUE(history.finished());
  EXPECT_EQ(best(history)->trainings, 3);
}

INSTANTIATE_TEST_SUITE_P(Policies, RepeatContract, testing::ValuesIn(test::policy_names()), [](const auto& each) {
  return test::as_test_name(each.param);
});

// How far the truth of the chosen configuration is from the best, over many seeds; same budget, same noise.
double mean_regret(int repeat, int seeds) {
  double sum = 0.0;
  for (int seed = 0; seed < seeds; ++seed) {
    StudySpec spec = test::noisy_spec({.name = "random"}, 300.0, repeat);
    spec.seed = static_cast<std::uint64_t>(seed);
    MemoryStore store(spec);
    train_noisy(store, {.trial_noise = 0.2});
    sum += 1.0 - NoisyTraining::truth(best(replay(spec, store.events(0)))->config);
  }
  return sum / seeds;
}

TEST(Repeat, ChoosesABetterConfigurationOfANoisyStudyForTheSameBudget) {
  const double once = mean_regret(1, 200);
  const double repeated = mean_regret(3, 200);
  std::printf(
      "regret of the truth: %.4f without repeats, %.4f with repeat: 3, ratio %.2f\n", once, repeated, repeated / once);
  EXPECT_LT(repeated, 0.9 * once);
}

}  // namespace repeat_contract_test
}  // namespace bapi
