#include "bapi/process/failure_text.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(FailureText, NamesTheOutputOnlyIfThereIsSome) {
  EXPECT_EQ(failure_text("exit code 1", ""), "exit code 1");
  EXPECT_EQ(failure_text("exit code 1", "Traceback"), "exit code 1; the end of its output:\nTraceback");
}

}  // namespace
}  // namespace bapi
