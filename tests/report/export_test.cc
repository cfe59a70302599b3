#include "bapi/report/export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bapi/report/summary.h"
#include "tests/report/sample_study.h"

namespace bapi {
namespace {

TEST(ExportCsv, HasOneLinePerReportWithTheCostOfTheWholeStudySoFar) {
  const SampleLog log = sample_log();
  const std::string csv = export_csv(replay(sample_spec(), log.events()), log.events(), Controller::absent);
  EXPECT_TRUE(
      csv.starts_with("trial,epoch,value,cost,spent,at,state,config.lr,config.units\n0,1,0.5,1.1,1.2000000000000002,"
                      "1003,paused,0.1,32\n"))
      << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6);
}

TEST(ExportJson, HoldsTheWholeStudy) {
  const SampleLog log = sample_log();
  const History history = replay(sample_spec(), log.events());
  const auto document = nlohmann::json::parse(export_json(history, log.events(), Controller::absent, {}));
  EXPECT_EQ(document["study"]["goal"], "maximize");
  EXPECT_EQ(document["trials"].size(), 3u);
  EXPECT_EQ(document["trials"][1]["curve"][2]["value"], 0.8);
  EXPECT_EQ(document["trials"][2]["failure"], "exit code 1: <bad> & \"ugly\"\n");
  EXPECT_EQ(document["ledger"].size(), 9u);
  EXPECT_EQ(document["decisions"].size(), 6u);
  EXPECT_EQ(document["status"]["budget"]["spent"], history.budget().spent());
}

TEST(ExportJson, ValuesAreInTheUsersDirection) {
  const SampleLog log = sample_log();
  const auto document = nlohmann::json::parse(
      export_json(replay(sample_spec(Goal::minimize), log.events()), log.events(), Controller::absent, {}));
  EXPECT_EQ(document["trials"][0]["best"], 0.5);
  EXPECT_EQ(document["trials"][0]["curve"][1]["value"], 0.6);
}

TEST(Export, StatesAreThoseOfTheOtherListings) {
  SampleLog log = sample_log();
  log.add(TrialResumed{.trial = TrialId{0}, .until = 9, .why = {.rule = Rule::uniform_draw}});
  const History history = replay(sample_spec(), log.events());
  for (const auto& [controller, state] :
       {std::pair(Controller::present, "running"), std::pair(Controller::absent, "interrupted")}) {
    const auto document = nlohmann::json::parse(export_json(history, log.events(), controller, {}));
    EXPECT_EQ(document["trials"][0]["state"], state);
    EXPECT_EQ(document["status"]["state"], state);
    EXPECT_NE(export_csv(history, log.events(), controller).find(state), std::string::npos);
  }
}

}  // namespace
}  // namespace bapi
