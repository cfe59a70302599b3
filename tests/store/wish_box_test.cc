#include "bapi/store/wish_box.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

using test::TempDir;

class Wishes : public testing::Test {
 protected:
  static ConfigEnqueued request(double value) { return {.wish = {{value}}, .by = "bapi add"}; }

  TempDir scratch_;
  StudyDir dir_{scratch_.path() / "s.bapi"};
  WishBox box_{dir_};
};

TEST_F(Wishes, AreReadInTheOrderInWhichTheyWereMade) {
  box_.put(request(0.2), 1700000001.0);
  box_.put(request(0.1), 1700000000.5);
  const std::vector<ConfigEnqueued> found = box_.waiting({});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].wish.values.front(), Value{0.1});
  EXPECT_EQ(found[1].wish.values.front(), Value{0.2});
  EXPECT_NE(found[0].id, found[1].id);
}

TEST_F(Wishes, ThoseInTheLogAreNotReadAgainAndThenRemoved) {
  box_.put(request(0.1), 1.0);
  box_.put(request(0.2), 2.0);
  const std::string recorded = box_.waiting({}).front().id;
  ASSERT_EQ(box_.waiting({recorded}).size(), 1u);
  box_.clear({recorded});
  ASSERT_EQ(box_.waiting({}).size(), 1u);
  EXPECT_EQ(box_.waiting({}).front().wish.values.front(), Value{0.2});
}

TEST_F(Wishes, WithoutADirectoryThereAreNone) {
  EXPECT_TRUE(box_.waiting({}).empty());
  box_.clear({"x"});
}

TEST_F(Wishes, FilesOfOthersAreLeftAlone) {
  box_.put(request(0.1), 1.0);
  std::ofstream(dir_.root() / "wishes" / "half.json") << R"({"kind": "enq)";
  std::ofstream(dir_.root() / "wishes" / "other.json") << R"({"kind": "segment_done", "version": 1, "trial": 3})";
  EXPECT_EQ(box_.waiting({}).size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(dir_.root() / "wishes" / "half.json"));
}

}  // namespace
}  // namespace bapi
