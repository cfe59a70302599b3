#include "bapi/process/failure_text.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(FailureText, NamesTheOutputOnlyIfThereIsSome) {
  EXPECT_EQ(failure_text("exit code 1", ""), "exit code 1");
  EXPECT_EQ(failure_text("exit code 1", "Traceback"), "exit code 1; the end of its output:\nTraceback");
}

TEST(FailureText, LeavesOutWhatOnlyATerminalUnderstands) {
  const auto end_of = [](const char* output) {
    return failure_text("x", output).substr(failure_text("x", "|").size() - 1);
  };
  EXPECT_EQ(end_of("\x1B[1;31mRuntimeError\x1B[0m: no memory\x1B[K"), "RuntimeError: no memory");
  EXPECT_EQ(end_of("\x1B]8;;http://a\alink\x1B]8;;\x1B\\ and \x1B(Bmore"), "link and more");
  EXPECT_EQ(end_of("\x1B[3\nnext\x1B"), "\nnext");
  EXPECT_EQ(end_of("\x1B]title"), "");
}

TEST(FailureText, HeadlineIsWhatHappenedWithoutTheOutput) {
  EXPECT_EQ(failure_headline(failure_text("exit code 1", "Traceback\nImportError")), "exit code 1");
  EXPECT_EQ(failure_headline(failure_text("exit code 1", "")), "exit code 1");
  EXPECT_EQ(failure_headline("any message\nof two lines"), "any message");
}

}  // namespace
}  // namespace bapi
