#include "bapi/process/write_order.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace write_order_test {

using Channel = WriteOrder::Channel;

class WriteOrders : public testing::Test {
 protected:
  WriteOrders() {
    dir_.create();
    std::ofstream(dir_.report());
    std::ofstream(dir_.log());
    order_.follow(dir_);
  }

  void report() { std::ofstream(dir_.report(), std::ios::app) << "{}\n"; }
  void print() { std::ofstream(dir_.log(), std::ios::app) << "bapi: {}\n"; }
  void save(const std::string& file = "model") { std::ofstream(dir_.checkpoint() / file) << "weights"; }
  WriteOrder& order() {
    order_.read();
    return order_;
  }

  test::TempDir scratch_;
  TrialDir dir_ = StudyDir(scratch_.path() / "study.bapi").trial(TrialId{0});
  WriteOrder order_;
};

TEST_F(WriteOrders, NothingIsSavedUntilTheCheckpointIsWrittenTo) {
  report();
  print();
  EXPECT_TRUE(order().saved_nothing());
  save();
  EXPECT_FALSE(order().saved_nothing());
}

TEST_F(WriteOrders, ASaveAfterAReportIsToldFromOneBeforeIt) {
  save();
  report();
  EXPECT_FALSE(order().saved_after(Channel::file));
  save();
  EXPECT_TRUE(order().saved_after(Channel::file));
  report();
  EXPECT_FALSE(order().saved_after(Channel::file));
}

TEST_F(WriteOrders, TheFirstSaveComesAfterNoReport) {
  save();
  EXPECT_FALSE(order().saved_after(Channel::file));
  EXPECT_TRUE(order().saved_last(Channel::file));
}

TEST_F(WriteOrders, EachChannelHasItsOwnReports) {
  print();
  save();
  EXPECT_TRUE(order().saved_after(Channel::output));
  EXPECT_FALSE(order().saved_after(Channel::file));
}

TEST_F(WriteOrders, AProgramThatSavesEveryEpochBeforeItsReportSurelySavesFirst) {
  save("epoch-1");
  report();
  EXPECT_FALSE(order().surely_saves_first(Channel::file)) << "one that saves after its first report looks the same";
  save("epoch-2");
  report();
  EXPECT_TRUE(order().surely_saves_first(Channel::file));
}

TEST_F(WriteOrders, AProgramThatReportsFirstDoesNotSurelySaveFirst) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    report();
    save();
  }
  EXPECT_FALSE(order().surely_saves_first(Channel::file));
}

TEST_F(WriteOrders, ANewProcessBeginsAnew) {
  save();
  report();
  order().follow(dir_);
  EXPECT_TRUE(order().saved_nothing());
}

}  // namespace write_order_test
}  // namespace bapi
