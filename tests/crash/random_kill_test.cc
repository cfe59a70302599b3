#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bapi/base/rng.h"
#include "bapi/control/report_parser.h"
#include "bapi/process/process_file.h"
#include "tests/crash/controlled_study.h"
#include "tests/support/delays.h"

namespace bapi {
namespace {

constexpr int kKills = 100;  // per meter

// Two workers, children in the group, and no end in sight.
StudySpec endless_spec(Meter meter) {
  StudySpec spec = trainer_spec({"--sleep", "0.004", "--fork-child"}, 27);
  spec.budget = {.limit = 1e6, .unit = meter == Meter::accrued ? "s" : "epochs", .meter = meter};
  spec.policy.name = "hyperband";
  spec.workers = 2;
  spec.grace = 0.05;
  spec.max_failures = 1'000'000;
  spec.seed = 5;
  return spec;
}

class RandomKill : public testing::TestWithParam<Meter> {
 protected:
  RandomKill() : study_(endless_spec(GetParam())) {}

  std::vector<int> trainers() const {
    std::vector<int> pids;
    std::error_code ignored;
    for (const auto& trial : std::filesystem::directory_iterator(study_.dir().root() / "trials", ignored)) {
      if (const auto file = read_process_file(trial.path() / "process")) pids.push_back(file->identity.pid);
    }
    return pids;
  }

  static void kill_trainers(const std::vector<int>& pids) {
    for (const int pid : pids) {
      if (identify(pid)) ::kill(pid, SIGKILL);
    }
  }

  // A controller lives for up to 90 ms; it, its trainers, or both are killed.
  void live_and_die() {
    Subprocess controller = study_.launch();
    ::usleep(static_cast<useconds_t>(90'000.0 * rng_.uniform()));
    const int victim = rng_.below(3);
    if (victim != 0) kill_trainers(trainers());
    if (victim == 1) ::usleep(static_cast<useconds_t>(20'000.0 * rng_.uniform()));
    ::kill(controller.identity().pid, SIGKILL);
    ControlledStudy::wait_for_exit(controller);
  }

  // What was in the log is in the log.
  void expect_nothing_lost() {
    const std::vector<StoredEvent> log = study_.log();
    ASSERT_GE(log.size(), known_.size());
    ASSERT_TRUE(std::equal(known_.begin(), known_.end(), log.begin()));
    known_ = log;
  }

  void expect_ledger_to_sum_up(const History& history) {
    Cost ledger = 0.0;
    for (const StoredEvent& stored : known_) {
      if (const auto* measured = std::get_if<Measured>(&stored.event)) ledger += measured->measurement.cost;
      if (const auto* overhead = std::get_if<Overhead>(&stored.event)) ledger += overhead->cost;
    }
    EXPECT_NEAR(history.budget().spent(), ledger, 1e-9 * (1.0 + ledger));
    EXPECT_LE(history.budget().spent(), history.budget().total());
  }

  // Folding the log fails on a trial or an epoch that is there twice or missing.
  History expect_sound_log() {
    expect_nothing_lost();
    History history = study_.history();
    expect_ledger_to_sum_up(history);
    return history;
  }

  // What a controller does first, and nothing else.
  void close_the_books() {
    SqliteStore store = SqliteStore::open(study_.dir().database(), Access::read_write);
    const SystemClock clock;
    ProcessEvaluator evaluator(store.spec(), study_.dir(), clock);
    const std::vector<Event> facts = evaluator.recover(study_.history());
    ASSERT_TRUE(store.append(std::ssize(study_.log()), facts, clock.now(), Durability::power));
  }

  // Sets the budget so that little is left, and runs to the end.
  void finish(Cost left) {
    {
      SqliteStore store = SqliteStore::open(study_.dir().database(), Access::read_write);
      const Event change = BudgetChanged{.total = study_.history().budget().spent() + left};
      ASSERT_TRUE(store.append(std::ssize(study_.log()), {&change, 1}, SystemClock().now(), Durability::power));
    }
    ASSERT_TRUE(study_.run()) << study_.controller_log();
  }

  // Epochs in the report file of a trial, line by line.
  std::vector<Epoch> reported(TrialId trial) const {
    std::vector<Epoch> epochs;
    std::istringstream lines(text_of(study_.dir().trial(trial).report()));
    for (std::string line; std::getline(lines, line);) {
      const ReportLine report = parse_report(line, "accuracy");
      if (const auto* epoch = std::get_if<EpochReport>(&report)) epochs.push_back(epoch->epoch);
    }
    return epochs;
  }

  std::vector<int> leftovers() const {
    std::vector<int> pids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string environment = text_of(entry.path() / "environ");
      if (environment.find("BAPI_DIR=" + study_.dir().root().string()) != std::string::npos) {
        pids.push_back(std::stoi(entry.path().filename()));
      }
    }
    return pids;
  }

  test::Delays delays_;
  ControlledStudy study_;
  Rng rng_{17};
  std::vector<StoredEvent> known_;
};

TEST_P(RandomKill, LosesNoReportDoublesNoTrialChargesNoEpochTwice) {
  const SystemClock clock;
  const double begin = clock.now();
  for (int kill = 0; kill < kKills; ++kill) {
    live_and_die();
    if (study_.exists()) expect_sound_log();
    if (HasFatalFailure()) return;
  }
  const double lives = clock.now() - begin;

  close_the_books();
  const History all = expect_sound_log();
  EXPECT_FALSE(all.trials().empty());  // how many, the speed of the machine decides
  EXPECT_EQ(leftovers(), std::vector<int>{});
  for (const Trial& trial : all.trials()) {
    const std::vector<Epoch> lines = reported(trial.id);
    const Epoch highest = lines.empty() ? 0 : *std::max_element(lines.begin(), lines.end());
    EXPECT_EQ(trial.curve.last_epoch(), highest) << "trial " << index(trial.id);
    if (GetParam() == Meter::epochs) {
      EXPECT_EQ(trial.spent(), static_cast<double>(lines.size())) << "trial " << index(trial.id);
    }
  }
  if (GetParam() == Meter::accrued) {
    EXPECT_LE(all.budget().spent(), 2.0 * lives);  // two workers
  }

  finish(GetParam() == Meter::accrued ? 1.0 : 30.0);
  expect_nothing_lost();
  const History history = study_.history();
  EXPECT_TRUE(history.finished());
  // Two workers, whose end takes a few steps that a busy machine may delay.
  const Cost kill_latency = GetParam() == Meter::accrued ? 2.0 * (0.25 + 4.0 * delays_.worst()) : 0.0;
  EXPECT_LE(history.budget().spent(), history.budget().total() + kill_latency);
  EXPECT_EQ(leftovers(), std::vector<int>{});
}

INSTANTIATE_TEST_SUITE_P(Meters, RandomKill, testing::Values(Meter::epochs, Meter::accrued), [](const auto& meter) {
  return meter.param == Meter::epochs ? "epochs" : "seconds";
});

}  // namespace
}  // namespace bapi
