#include "bapi/base/file_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TreeState state(const fs::path& directory) { return std::get<TreeState>(scan_tree(directory)); }

TEST(FileTree, CopyHoldsTheSameFilesWithTheirModesAndTimes) {
  const TempDir temp;
  write(temp / "from/model.bin", std::string(300'000, 'm'));
  write(temp / "from/deep/er/optimizer", "adam");
  fs::create_directories(temp / "from/empty");
  ::chmod((temp / "from/model.bin").c_str(), 0640);
  const CopySummary copy = copy_tree(temp / "from", temp / "to");
  EXPECT_EQ(copy.failure, "");
  EXPECT_EQ(copy.files, 2);
  EXPECT_EQ(copy.bytes, 300'004);
  EXPECT_EQ(text_of(temp / "to/model.bin"), text_of(temp / "from/model.bin"));
  EXPECT_EQ(text_of(temp / "to/deep/er/optimizer"), "adam");
  EXPECT_TRUE(fs::is_directory(temp / "to/empty"));
  EXPECT_EQ(fs::status(temp / "to/model.bin").permissions(), static_cast<fs::perms>(0640));
  EXPECT_EQ(fs::last_write_time(temp / "to/model.bin"), fs::last_write_time(temp / "from/model.bin"));
}

TEST(FileTree, CopyIsNotTouchedByWritingToTheOriginalInPlace) {
  const TempDir temp;
  write(temp / "from/model", "epoch 1");
  copy_tree(temp / "from", temp / "to");
  std::fstream(temp / "from/model", std::ios::in | std::ios::out) << "epoch 2";
  EXPECT_EQ(text_of(temp / "to/model"), "epoch 1");
}

TEST(FileTree, LinksWithinTheDirectoryLeadToTheCopy) {
  const TempDir temp;
  write(temp / "from/a/epoch=3.ckpt", "three");
  fs::create_symlink("a/epoch=3.ckpt", temp / "from/relative");
  fs::create_symlink(temp / "from/a/epoch=3.ckpt", temp / "from/a/absolute");
  const CopySummary copy = copy_tree(temp / "from", temp / "to");
  EXPECT_EQ(copy.links_outside, 0);
  fs::remove_all(temp / "from");
  EXPECT_EQ(text_of(temp / "to/relative"), "three");
  EXPECT_EQ(text_of(temp / "to/a/absolute"), "three");
}

TEST(FileTree, LinksOutOfTheDirectoryAreCountedAndNotFollowed) {
  const TempDir temp;
  write(temp / "secret", "password");
  fs::create_directories(temp / "from");
  fs::create_symlink("../secret", temp / "from/up");
  fs::create_symlink("/etc/passwd", temp / "from/etc");
  fs::create_symlink(".", temp / "from/circle");
  const CopySummary copy = copy_tree(temp / "from", temp / "to");
  EXPECT_EQ(copy.failure, "");
  EXPECT_EQ(copy.links_outside, 2);
  EXPECT_TRUE(fs::is_symlink(temp / "to/etc"));
}

TEST(FileTree, PipesAreLeftOutAndNobodyWaitsForThem) {
  const TempDir temp;
  write(temp / "from/model", "m");
  ASSERT_EQ(::mkfifo((temp / "from/pipe").c_str(), 0600), 0);
  const CopySummary copy = copy_tree(temp / "from", temp / "to");
  EXPECT_EQ(copy.failure, "");
  EXPECT_EQ(copy.skipped, 1);
  EXPECT_FALSE(fs::exists(temp / "to/pipe"));
}

TEST(FileTree, HolesStayHoles) {
  const TempDir temp;
  write(temp / "from/sparse", "begin");
  fs::resize_file(temp / "from/sparse", std::uintmax_t{1} << 36);
  const CopySummary copy = copy_tree(temp / "from", temp / "to");
  EXPECT_EQ(copy.failure, "");
  EXPECT_EQ(fs::file_size(temp / "to/sparse"), std::uintmax_t{1} << 36);
  EXPECT_LT(disk_usage(temp / "to"), 1 << 20);
}

TEST(FileTree, DeepTreesAreRefused) {
  const TempDir temp;
  fs::path deep = temp / "from";
  for (int i = 0; i < kDeepestTree + 3; ++i) deep /= "d";
  fs::create_directories(deep);
  EXPECT_NE(std::get<std::string>(scan_tree(temp / "from")), "");
  EXPECT_NE(copy_tree(temp / "from", temp / "to").failure, "");
  EXPECT_EQ(remove_tree(temp / "to"), "");
}

TEST(FileTree, EveryWriteChangesTheState) {
  const TempDir temp;
  write(temp / "d/model", "epoch 1");
  const TreeState before = state(temp / "d");
  EXPECT_EQ(state(temp / "d"), before);
  std::fstream(temp / "d/model", std::ios::in | std::ios::out) << "epoch 2";  // the same length, in place
  const TreeState written = state(temp / "d");
  EXPECT_NE(written, before);
  EXPECT_GE(written.newest_content(), before.newest_content());
  write(temp / "d/model.new", "epoch 2");
  fs::rename(temp / "d/model.new", temp / "d/model");
  EXPECT_NE(state(temp / "d"), written);
}

TEST(FileTree, AFullDiskIsTheReasonOfAnIncompleteCopy) {
  const TempDir temp;
  write(temp / "from/model", std::string(1 << 20, 'm'));
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 1 << 16, .rlim_max = 1 << 16};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const CopySummary copy = copy_tree(temp / "from", temp / "to");
    ::_exit(copy.failure.find("cannot write") == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(FileTree, RemovesWhatItsOwnerMayNotWriteToAndFollowsNoLink) {
  const TempDir temp;
  write(temp / "kept/file", "kept");
  write(temp / "d/sub/file", "x");
  fs::create_directory_symlink(temp / "kept", temp / "d/link");
  ::chmod((temp / "d/sub").c_str(), 0500);
  EXPECT_EQ(remove_tree(temp / "d"), "");
  EXPECT_FALSE(fs::exists(temp / "d"));
  EXPECT_TRUE(fs::exists(temp / "kept/file"));
  EXPECT_EQ(remove_tree(temp / "d"), "");
}

TEST(FileTree, ACancelledCopyIsIncomplete) {
  const TempDir temp;
  write(temp / "from/model", "m");
  const std::atomic<bool> cancel = true;
  EXPECT_NE(copy_tree(temp / "from", temp / "to", &cancel).failure, "");
}

}  // namespace
}  // namespace bapi
