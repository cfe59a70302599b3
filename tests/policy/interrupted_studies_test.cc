// Laws that every registered policy obeys whatever happens to the study: it is interrupted or killed, continued with
// other workers, given more budget. What enters the log can follow, so the study opens again.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "bapi/study/replay.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/table_evaluator.h"
#include "tests/support/brisk_policy.h"
#include "tests/support/ledger.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

struct Killed {};

// Whether the study goes on, is interrupted in order, or dies on the spot; asked at every step of the loop.
enum class Fate { goes_on, interrupted, killed };
using Fates = std::function<Fate(const History&)>;

// A study on a table, driven by one controller after another.
class LongStudy {
 public:
  LongStudy(const CurveTable& table, PolicySpec policy, Cost budget)
      : table_(table), policy_(std::move(policy)), store_(study_of(table, budget, policy_, 3, 1)) {}

  void set_workers(int workers) {
    StudySpec spec = store_.spec();
    spec.workers = workers;
    MemoryStore changed(spec);
    for (const StoredEvent& stored : store_.events(0)) {
      const std::span<const Event> one(&stored.event, 1);
      if (is_decision(stored.event)) {
        changed.append_decision(stored.seq - 1, stored.event, stored.at);
      } else {
        changed.append(stored.seq - 1, one, stored.at, Durability::process);
      }
    }
    store_ = std::move(changed);
  }

  void set_budget(Cost total) {
    const std::vector<Event> facts = {BudgetChanged{.total = total}};
    ASSERT_TRUE(store_.append(std::ssize(store_.events(0)), facts, clock_.now(), Durability::power));
  }

  // One controller, from its start to its end.
  void drive(const Fates& fate) {
    const std::unique_ptr<Policy> policy = make_policy(policy_);
    Session session(store_, *policy, clock_);
    TableEvaluator evaluator(table_, store_.spec(), clock_);
    std::atomic<bool> interrupt = false;
    TuneOptions options;
    options.tick = 1e300;
    options.interrupt = &interrupt;
    options.observer = [&](const Session& s, const Evaluator&) {
      const Fate now = fate(s.history());
      if (now == Fate::killed) throw Killed();
      interrupt = interrupt || now == Fate::interrupted;
    };
    try {
      tune(session, evaluator, clock_, options);
    } catch (const Killed&) {
    }
  }

  std::vector<StoredEvent> events() const { return store_.events(0); }
  Replay replayed() const { return replay(store_.spec(), store_.read(0)); }

 private:
  const CurveTable& table_;
  PolicySpec policy_;
  MemoryStore store_;
  ManualClock clock_;
};

class InterruptedStudies : public testing::TestWithParam<std::string> {};

TEST_P(InterruptedStudies, OpenAgainAfterEveryEndAndSpendTheirBudget) {
  constexpr Cost kFirstBudget = 25.0;
  constexpr Cost kLastBudget = 60.0;
  const CurveTable table = test::small_table(24, 9);
  for (const std::uint64_t seed : {1, 2}) {
    Rng rng = Rng(seed).fork("fates");
    LongStudy study(table, test::brisk(GetParam()), kFirstBudget);
    Cost budget = kFirstBudget;
    for (int controller = 0; controller < 200; ++controller) {
      study.set_workers(1 + rng.below(3));
      int steps = 1 + rng.below(14);
      const Fate end = rng.below(2) == 0 ? Fate::interrupted : Fate::killed;
      study.drive([&](const History&) { return --steps > 0 ? Fate::goes_on : end; });
      const Replay log = study.replayed();
      ASSERT_FALSE(log.damage) << log.damage->text();
      if (!log.history.finished()) continue;
      if (budget == kLastBudget) break;
      budget = kLastBudget;
      study.set_budget(budget);
    }
    const History history = study.replayed().history;
    EXPECT_TRUE(history.finished());
    EXPECT_GT(history.budget().spent(), 0.5 * kLastBudget);
    EXPECT_EQ(test::ledger_sum(study.events()), history.budget().spent());
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, InterruptedStudies, testing::ValuesIn(test::policy_names()), [](const auto& each) {
  return test::as_test_name(each.param);
});

// One worker is interrupted in the first full training of the initial design; two continue.
TEST(InterruptedStudy, OfThePaperIsContinuedWithAnotherWorker) {
  const CurveTable table = test::small_table(24, 9);
  for (const char* name : {"bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm"}) {
    LongStudy study(table, {.name = name}, 60.0);
    study.drive([&](const History& history) {
      const bool full = std::any_of(history.trials().begin(), history.trials().end(), [](const Trial& trial) {
        return trial.starts > 1 && trial.segment && trial.segment->until == 9;
      });
      return full ? Fate::interrupted : Fate::goes_on;
    });
    const History before = study.replayed().history;
    ASSERT_EQ(before.open_segments(), 1) << name;
    study.set_workers(2);
    study.drive([](const History&) { return Fate::goes_on; });
    EXPECT_TRUE(study.replayed().history.finished()) << name;
  }
}

}  // namespace
}  // namespace bapi
