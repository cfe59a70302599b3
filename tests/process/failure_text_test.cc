#include "bapi/process/failure_text.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(FailureText, NamesTheOutputOnlyIfThereIsSome) {
  EXPECT_EQ(failure_text("exit code 1", ""), "exit code 1");
  EXPECT_EQ(failure_text("exit code 1", "Traceback"), "exit code 1; the end of its output:\nTraceback");
}

TEST(FailureText, HeadlineIsWhatHappenedWithoutTheOutput) {
  EXPECT_EQ(failure_headline(failure_text("exit code 1", "Traceback\nImportError")), "exit code 1");
  EXPECT_EQ(failure_headline(failure_text("exit code 1", "")), "exit code 1");
  EXPECT_EQ(failure_headline("any message\nof two lines"), "any message");
}

}  // namespace
}  // namespace bapi
