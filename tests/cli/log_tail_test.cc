#include "bapi/cli/log_tail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace bapi {
namespace {

class LogTail : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  std::string tail(const std::string& content, int lines) {
    std::ofstream(file_, std::ios::binary) << content;
    return log_tail(file_, lines);
  }
  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("log_tail_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(LogTail, GivesTheLastLinesWhole) {
  EXPECT_EQ(tail("a\nb\nc\n", 2), "b\nc\n");
  EXPECT_EQ(tail("a\nb\nc\n", 3), "a\nb\nc\n");
  EXPECT_EQ(tail("a\nb\nc\n", 9), "a\nb\nc\n");
}

TEST_F(LogTail, GivesLongLinesWhole) {
  const std::string line(60000, 'x');
  EXPECT_EQ(tail("first\n" + line + "\n" + line + "\n", 2), line + "\n" + line + "\n");
}

TEST_F(LogTail, EndsAnOpenLine) { EXPECT_EQ(tail("a\nb", 1), "b\n"); }

TEST_F(LogTail, IsEmptyForEmptyAndMissingFiles) {
  EXPECT_EQ(tail("", 3), "");
  EXPECT_EQ(log_tail(file_.string() + ".missing", 3), "");
}

TEST_F(LogTail, ReadsOnlyTheEndOfAFileWithoutNewlinesAndGivesValidText) {
  const std::string text = tail(std::string(3 << 20, '\xff'), 3);
  EXPECT_LT(text.size(), 4u << 20);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

TEST_F(LogTail, SaysWhatIsInThePlaceOfTheFile) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_NE(log_tail(file_, 3).find("it is a pipe"), std::string::npos);
  std::filesystem::remove(file_);
  std::filesystem::create_symlink("/dev/zero", file_);
  EXPECT_NE(log_tail(file_, 3).find("it is a symbolic link"), std::string::npos);
}

TEST_F(LogTail, ShowsEscapeSequences) { EXPECT_EQ(tail("\x1b[2Ja\n", 3), "\\x1b[2Ja\n"); }

}  // namespace
}  // namespace bapi
