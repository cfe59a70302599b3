#include "bapi/studies/provenance.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

using test::TempDir;

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";
const std::string kOther = "89abcdef0123456789abcdef0123456789abcdef";

class Commit : public testing::Test {
 protected:
  void has(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((scratch_.path() / file).parent_path());
    std::ofstream(scratch_.path() / file) << text;
  }

  std::filesystem::path at(const std::string& folder) const { return scratch_.path() / folder; }

  TempDir scratch_;
};

TEST_F(Commit, IsThatOfTheBranchThatIsCheckedOut) {
  has("code/.git/HEAD", "ref: refs/heads/main\n");
  has("code/.git/refs/heads/main", kCommit + "\n");
  std::filesystem::create_directories(at("code/src/deep"));
  EXPECT_EQ(git_commit(at("code/src/deep")), kCommit);
}

TEST_F(Commit, MayBePacked) {
  has("code/.git/HEAD", "ref: refs/heads/topic/a\n");
  has("code/.git/packed-refs", "# pack-refs\n" + kOther + " refs/heads/a\n" + kCommit + " refs/heads/topic/a\n");
  EXPECT_EQ(git_commit(at("code")), kCommit);
}

TEST_F(Commit, MayBeCheckedOutWithoutABranch) {
  has("code/.git/HEAD", kCommit + "\n");
  EXPECT_EQ(git_commit(at("code")), kCommit);
}

TEST_F(Commit, IsFoundFromAnotherWorkTree) {
  has("code/.git/refs/heads/topic", kCommit + "\n");
  has("code/.git/worktrees/tree/HEAD", "ref: refs/heads/topic\n");
  has("code/.git/worktrees/tree/commondir", "../..\n");
  has("tree/.git", "gitdir: " + at("code/.git/worktrees/tree").string() + "\n");
  EXPECT_EQ(git_commit(at("tree")), kCommit);
}

TEST_F(Commit, IsNoneWithoutARepositoryOrACommit) {
  has("code/.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(git_commit(at("code")), "");
  has("code/.git/HEAD", "nonsense\n");
  EXPECT_EQ(git_commit(at("code")), "");
  EXPECT_EQ(git_commit(at("nowhere")), "");
}

TEST_F(Commit, ProvenanceNamesThisHost) {
  std::array<char, 256> host = {};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const Provenance found = provenance_of("9.9", at("code"));
  EXPECT_EQ(found.host, host.data());
  EXPECT_EQ(found.bapi, "9.9");
  EXPECT_EQ(found.system.find("Linux "), 0u);
}

}  // namespace
}  // namespace bapi
