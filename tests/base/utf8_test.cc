#include "bapi/base/utf8.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

using namespace std::string_view_literals;

TEST(IsUtf8, AcceptsCodePointsAndNothingElse) {
  for (const std::string_view text : {""sv, "a\0b"sv, "naïve € 😀"sv}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const std::string_view text : {"\xff", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(Clipped, CountsCharactersNotBytes) {
  EXPECT_EQ(display_width("▁▂▃"), 3u);
  EXPECT_EQ(clipped("▁▂▃", 3), "▁▂▃");
  EXPECT_EQ(clipped("▁▂▃▄", 3), "▁▂…");
  EXPECT_EQ(clipped("abc", 1), "…");
  EXPECT_EQ(clipped("abc", 0), "");
}

TEST(WellFormed, KeepsTextAndReplacesEveryStrayByte) {
  EXPECT_EQ(well_formed("naïve € 😀"), "naïve € 😀");
  EXPECT_EQ(well_formed("\xc2\x85 \xc2\x9b"), "\xc2\x85 \xc2\x9b");  // control characters of the second set
  EXPECT_EQ(well_formed("a\xff"
                        "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(well_formed("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // an overlong form of NUL
  EXPECT_EQ(well_formed("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // cut off
  EXPECT_EQ(well_formed("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
}

TEST(Printable, KeepsTextAndReplacesWhatCannotBeStored) {
  EXPECT_EQ(printable("a\tb\nÄ € 😀"), "a\tb\nÄ € 😀");
  EXPECT_EQ(printable(std::string_view("a\0b\x1b[0m\r", 8)), "a?b?[0m?");
  EXPECT_EQ(printable("\xc2\x9b"), "?");
  EXPECT_EQ(printable("\xff\xc3"), "??");            // no UTF-8, and a character cut in half
  EXPECT_EQ(printable("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // surrogate
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "????");  // past the last character
}

TEST(Visible, TerminalsShowEscapeSequencesAndDoNotObeyThem) {
  EXPECT_EQ(visible("a\tb\nnaïve"), "a\tb\nnaïve");
  EXPECT_EQ(visible("\x1b]0;title\x07\x1b[2J"), "\\x1b]0;title\\x07\\x1b[2J");
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J \xc2\x80 \xc2\xa0 \xc3\x9b"),
            "\\x9b2J \\x80 \xc2\xa0 \xc3\x9b");
  EXPECT_EQ(visible("50%\r60%\0\x7f\xff"sv), "50%\\r60%\\x00\\x7f\xEF\xBF\xBD");
}

TEST(VisibleLine, IsOneLine) { EXPECT_EQ(visible_line("a\tb\nc\x1b[2J"), "a\\tb\\nc\\x1b[2J"); }

}  // namespace
}  // namespace bapi
