#include "bapi/process/file_tail.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "bapi/base/error.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

using Lines = std::vector<std::string>;

class Tail : public testing::Test {
 protected:
  Tail() { append(""); }

  void append(const std::string& text) { std::ofstream(file(), std::ios::app | std::ios::binary) << text; }
  void replace(const std::string& text) { std::ofstream(file(), std::ios::trunc | std::ios::binary) << text; }
  std::filesystem::path file() const { return scratch_.path() / "file"; }

  static Lines read(FileTail& tail) {
    Lines lines;
    while (tail.read([&](std::string_view line) { lines.emplace_back(line); }, 1 << 20)) {
    }
    return lines;
  }

  TempDir scratch_;
};

TEST_F(Tail, GivesEveryLineOnceAndOnlyWhenComplete) {
  FileTail tail(file(), 0);
  EXPECT_EQ(read(tail), Lines{});
  append("one\ntwo\nthr");
  EXPECT_EQ(read(tail), (Lines{"one", "two"}));
  append("ee");
  EXPECT_EQ(read(tail), Lines{});
  append("\n\nfour\n");
  EXPECT_EQ(read(tail), (Lines{"three", "", "four"}));
}

TEST_F(Tail, BeginsWhereItIsTold) {
  append("old\nnew\n");
  FileTail tail(file(), 4);
  EXPECT_EQ(read(tail), Lines{"new"});
}

TEST_F(Tail, SkipsLinesBeyondTheLimitWhateverTheirLength) {
  FileTail tail(file(), 0, 1000);
  append(fmt::format("{}\n{}\nshort\n", std::string(1000, 'a'), std::string(1001, 'b')));
  EXPECT_EQ(read(tail), (Lines{std::string(1000, 'a'), "short"}));
  append(std::string(3'000'000, 'c'));
  EXPECT_EQ(read(tail), Lines{});
  append("\nafter\n");
  EXPECT_EQ(read(tail), Lines{"after"});
}

TEST_F(Tail, ReadsABoundedAmountAtOnce) {
  append(fmt::format("{}\nend\n", std::string(300'000, 'x')));
  FileTail tail(file(), 0);
  int lines = 0;
  EXPECT_TRUE(tail.read([&](std::string_view) { ++lines; }, 100'000));
  EXPECT_EQ(lines, 0);
}

TEST_F(Tail, StartsOverWhenTheFileWasCutOff) {
  append("first line\n");
  FileTail tail(file(), 0);
  EXPECT_EQ(read(tail), Lines{"first line"});
  replace("new\n");
  EXPECT_EQ(read(tail), Lines{"new"});
  FileTail late(file(), 100);
  EXPECT_EQ(read(late), Lines{"new"});
}

TEST_F(Tail, GivesTheUnfinishedLineWhenAskedForTheRest) {
  append("one\ntw");
  FileTail tail(file(), 0, 10);
  read(tail);
  EXPECT_EQ(tail.take_rest(), "tw");
  append(std::string(11, 'x'));
  read(tail);
  EXPECT_EQ(tail.take_rest(), "");
}

TEST_F(Tail, AFileThatIsNotThereIsEmpty) {
  FileTail tail(scratch_.path() / "none", 5);
  EXPECT_EQ(read(tail), Lines{});
  EXPECT_EQ(tail.problem(), "");
}

TEST_F(Tail, LinksPipesAndDevicesAreRefusedWithTheReason) {
  ASSERT_EQ(::mkfifo((scratch_.path() / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", scratch_.path() / "link");
  for (const char* name : {"pipe", "link"}) {
    FileTail tail(scratch_.path() / name, 0);
    EXPECT_EQ(read(tail), Lines{});
    EXPECT_NE(tail.problem().find("expected a regular file"), std::string::npos) << tail.problem();
  }
}

TEST_F(Tail, AHoleThatNobodyCanHaveAppendedIsNotRead) {
  append("one\n");
  FileTail tail(file(), 0);
  std::filesystem::resize_file(file(), std::uintmax_t{1} << 40U);
  EXPECT_EQ(read(tail), Lines{"one"});
  EXPECT_NE(tail.problem().find("hole"), std::string::npos);
}

TEST_F(Tail, LastLinesAreBoundedInNumberAndLength) {
  append("a\nb\nc\nd\n");
  EXPECT_EQ(last_lines(file(), 0, 2, 100), "c\nd");
  EXPECT_EQ(last_lines(file(), 0, 20, 100), "a\nb\nc\nd");
  EXPECT_EQ(last_lines(file(), 0, 20, 4), "c\nd");
  EXPECT_EQ(last_lines(file(), 6, 20, 100), "d");
  EXPECT_EQ(last_lines(file(), 100, 20, 100), "");
  EXPECT_EQ(last_lines(scratch_.path() / "none", 0, 20, 100), "");
}

}  // namespace
}  // namespace bapi
