#include "bapi/process/failure_text.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(Printable, KeepsTextAndReplacesWhatCannotBeStored) {
  EXPECT_EQ(printable("a\tb\nÄ € 😀"), "a\tb\nÄ € 😀");
  EXPECT_EQ(printable(std::string_view("a\0b\x1b[0m\r", 8)), "a?b?[0m?");
  EXPECT_EQ(printable("\xff\xc3"), "??");            // no UTF-8, and a character cut in half
  EXPECT_EQ(printable("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // surrogate
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "????");  // past the last character
}

TEST(FailureText, NamesTheOutputOnlyIfThereIsSome) {
  EXPECT_EQ(failure_text("exit code 1", ""), "exit code 1");
  EXPECT_EQ(failure_text("exit code 1", "Traceback"), "exit code 1; the end of its output:\nTraceback");
}

}  // namespace
}  // namespace bapi
