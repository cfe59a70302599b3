#include "bapi/process/report_reader.h"

#include <gtest/gtest.h>

#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

class Reports : public testing::Test {
 protected:
  Reports() : dir_(StudyDir(scratch_.path()).trial(TrialId{0})) { dir_.create(); }

  void write(const std::string& text) { std::ofstream(dir_.report(), std::ios::app) << text; }
  void print(const std::string& text) { std::ofstream(dir_.log(), std::ios::app) << text; }
  ReportReader reader() const { return {dir_, 0, 0, "accuracy"}; }

  static std::vector<Epoch> epochs(const ReportReader::Batch& batch) {
    std::vector<Epoch> result;
    for (const ReportLine& line : batch.reports) {
      if (const auto* report = std::get_if<EpochReport>(&line)) result.push_back(report->epoch);
    }
    return result;
  }

  TempDir scratch_;
  TrialDir dir_;
};

TEST_F(Reports, TheFirstWayOfReportingIsTheOnlyOne) {
  ReportReader r = reader();
  print("bapi: {\"epoch\": 1, \"accuracy\": 1}\nhello {}\n");
  EXPECT_EQ(epochs(r.read()), (std::vector<Epoch>{1}));
  write("{\"epoch\": 1, \"accuracy\": 1}\n{\"epoch\": 2, \"accuracy\": 1}\n");
  EXPECT_TRUE(r.read().reports.empty());
  print("bapi: {\"epoch\": 2, \"accuracy\": 1}\n");
  EXPECT_EQ(epochs(r.read()), (std::vector<Epoch>{2}));
}

TEST_F(Reports, TheReadyMarkIsHeardFromBothSides) {
  ReportReader r = reader();
  print("bapi: {\"ready\": true}\n");
  EXPECT_EQ(r.read().reports.size(), 1u);
  write("{\"epoch\": 1, \"accuracy\": 1}\n");
  EXPECT_EQ(epochs(r.read()), (std::vector<Epoch>{1}));
}

TEST_F(Reports, UnreadableLinesAreCountedInTheFileAndAfterATag) {
  ReportReader r = reader();
  write("nonsense\n\n  \n{\"epoch\": 1\n");
  print("nonsense\nbapi: {nonsense\nbapi: hello\n");
  EXPECT_EQ(r.read().unreadable, 3);
}

TEST_F(Reports, AnUnfinishedLineCountsOnlyWhenNobodyWritesAnyMore) {
  ReportReader r = reader();
  write("{\"epoch\": 1, \"accuracy\": 1}\n{\"epoch\": 2, \"accuracy\": 1}");
  EXPECT_EQ(epochs(r.read()), (std::vector<Epoch>{1}));
  EXPECT_EQ(epochs(r.read_rest()), (std::vector<Epoch>{2}));
  write("\n{\"epoch\": 3, \"accura");
  EXPECT_TRUE(r.read_rest().reports.empty());
}

TEST_F(Reports, KnowsWhenTheyWereWritten) {
  ReportReader r = reader();
  write("{\"epoch\": 1, \"accuracy\": 1}\n");
  EXPECT_NEAR(r.read().written_at, SystemClock().now(), 0.5);
}

}  // namespace
}  // namespace bapi
