#include "bapi/store/mailbox.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace mailbox_test {

class MailboxTest : public testing::Test {
 protected:
  test::TempDir scratch_;
  FolderMailbox box_{scratch_.path() / "letters", 100};
};

TEST_F(MailboxTest, GivesLettersBackInTheOrderOfTheirTimes) {
  const std::string second = Mailbox::new_id(1700000001.0);
  const std::string first = Mailbox::new_id(1700000000.999999);
  EXPECT_TRUE(Mailbox::is_id(first));
  box_.put(second, "2");
  box_.put(first, "1");
  EXPECT_EQ(box_.ids(), (std::vector<std::string>{first, second}));
  EXPECT_EQ(box_.read(first), "1");
  EXPECT_TRUE(box_.has(second));
  box_.remove(first);
  EXPECT_EQ(box_.ids(), std::vector<std::string>{second});
  EXPECT_EQ(box_.read(first), std::nullopt);
}

TEST_F(MailboxTest, NamesOfTheSameInstantDiffer) { EXPECT_NE(Mailbox::new_id(1.0), Mailbox::new_id(1.0)); }

TEST_F(MailboxTest, KnowsLettersOfEarlierVersions) { EXPECT_TRUE(Mailbox::is_id("1700000000.500000-4711-0")); }

TEST_F(MailboxTest, ANameIsNeverAPath) {
  for (const char* text : {"", "../log", "a/b", "/etc/passwd", "x y"}) EXPECT_FALSE(Mailbox::is_id(text)) << text;
}

TEST_F(MailboxTest, ReadsNoLinkAndNothingTooLarge) {
  box_.put("1", std::string(100, 'x'));
  box_.put("2", std::string(101, 'x'));
  std::filesystem::create_symlink("/etc/passwd", scratch_.path() / "letters" / "3.json");
  EXPECT_TRUE(box_.read("1").has_value());
  EXPECT_EQ(box_.read("2"), std::nullopt);
  EXPECT_EQ(box_.read("3"), std::nullopt);
}

TEST_F(MailboxTest, WithoutAFolderThereAreNoLetters) { EXPECT_TRUE(box_.ids().empty()); }

}  // namespace mailbox_test
}  // namespace bapi
