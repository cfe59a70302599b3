#include "bapi/process/companion.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace companion_test {

class Companions : public ::testing::Test {
 protected:
  std::string log() const { return read_whole_file(scratch_ / "log", 1 << 16).value_or(""); }
  test::TempDir scratch_;
};

TEST_F(Companions, IsHeardInItsLogAndItsEndIsSeen) {
  Companion companion({"sh", "-c", "echo here; exit 7"}, scratch_ / "log");
  companion.wait(60.0);
  ASSERT_TRUE(companion.look());
  EXPECT_EQ(companion.look()->code, 7);
  EXPECT_EQ(log(), "here\n");
}

TEST_F(Companions, LeavesInItsOwnWayWhenItIsTold) {
  Companion companion({"sh", "-c", "trap 'echo left; exit 0' TERM; echo ready; while :; do sleep 0.05; done"},
                      scratch_ / "log");
  for (int look = 0; look < 2000 && log().empty(); ++look) companion.wait(0.02);
  EXPECT_FALSE(companion.look());
  companion.tell_to_leave();
  companion.wait(60.0);
  ASSERT_TRUE(companion.look());
  EXPECT_TRUE(companion.look()->in_order());
  EXPECT_TRUE(log().ends_with("left\n")) << log();  // the shell may remark that its sleep was ended
}

TEST_F(Companions, ThatCannotBeRunIsAnErrorWithItsName) {
  try {
    Companion companion({"/nowhere/at/all"}, scratch_ / "log");
    FAIL() << "it runs";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos) << error.what();
  }
}

}  // namespace companion_test
}  // namespace bapi
