#include "bapi/studies/study_workers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace bapi {
namespace study_workers_test {

Workforce some_workers() {
  return {.now = 200.0,
          .workers = {{.id = WorkerId{1},
                       .card = {.host = "desk", .pid = 10, .slots = 2},
                       .joined = 100.0,
                       .lease_until = 230.0,
                       .tally = {.busy = 150.0}},
                      {.id = WorkerId{2},
                       .card = {.host = "node7", .pid = 11, .job = "slurm 4_2", .slots = 1},
                       .state = WorkerState::lost,
                       .joined = 100.0,
                       .lease_until = 150.0,
                       .tally = {.busy = 50.0, .failures = 3}}},
          .orders = {{.trial = TrialId{3}, .worker = WorkerId{1}}, {.trial = TrialId{5}, .worker = WorkerId{1}}}};
}

Cell cell(const Table& table, std::size_t row, const std::string& column) {
  const auto found = std::ranges::find(table.columns(), column);
  return table.rows().at(row).at(static_cast<std::size_t>(found - table.columns().begin()));
}

TEST(StudyWorkers, ShowWhatTheyTrainAndForHowLongTheyAreTakenToBeAlive) {
  const Table table = workers_table(some_workers());
  EXPECT_EQ(cell(table, 0, "trials"), Cell::array({3, 5}));
  EXPECT_EQ(cell(table, 0, "lease"), 30.0);
  EXPECT_EQ(cell(table, 0, "state"), "live");
  EXPECT_EQ(cell(table, 1, "job"), "slurm 4_2");
  EXPECT_TRUE(cell(table, 1, "lease").is_null());
  EXPECT_EQ(cell(table, 1, "failures"), 3);
}

TEST(StudyWorkers, AreIdleForTheTimeThatTheirSlotsDidNotTrainWhileTheyWereThere) {
  const Table table = workers_table(some_workers());
  EXPECT_DOUBLE_EQ(cell(table, 0, "idle").get<double>(), 0.25);  // 150 of 2 times 100 seconds
  EXPECT_DOUBLE_EQ(cell(table, 1, "idle").get<double>(), 0.0);   // until its lease ended
}

TEST(StudyWorkers, ThatAreGoneOrLostAreLeftOutOfThosePresent) {
  const Workforce present = present_of(some_workers());
  ASSERT_EQ(present.workers.size(), 1u);
  EXPECT_EQ(present.workers.front().card.host, "desk");
}

}  // namespace study_workers_test
}  // namespace bapi
