#include "bapi/store/study_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace study_dir_test {

using test::TempDir;

std::string text_of(const std::filesystem::path& file) { return contents_of(file); }

TEST(StudyDir, PathsAreAbsoluteAndTrialsAreNumbered) {
  const StudyDir dir("x/../mlp.bapi");
  EXPECT_EQ(dir.root(), std::filesystem::current_path() / "mlp.bapi");
  EXPECT_EQ(dir.trial(TrialId{7}).root, dir.root() / "trials" / "0007");
  EXPECT_EQ(dir.trial(TrialId{12345}).root, dir.root() / "trials" / "12345");
}

TEST(StudyDir, CreatingATrialTwiceKeepsItsFiles) {
  const TempDir scratch;
  const TrialDir trial = StudyDir(scratch.path() / "a.bapi").trial(TrialId{0});
  trial.create();
  std::ofstream(trial.log()) << "text";
  trial.create();
  EXPECT_EQ(text_of(trial.log()), "text");
  EXPECT_TRUE(std::filesystem::is_directory(trial.checkpoint()));
  EXPECT_TRUE(std::filesystem::exists(trial.report()));
}

TEST(StudyDir, CheckpointsMayBeElsewhere) {
  const TempDir scratch;
  const StudyDir shared(scratch.path() / "shared");
  const TrialDir trial = StudyDir(scratch.path() / "own").with_checkpoints_in(shared).trial(TrialId{7});
  trial.create();
  EXPECT_EQ(trial.checkpoint(), shared.trial(TrialId{7}).checkpoint());
  EXPECT_EQ(trial.best(), shared.trial(TrialId{7}).best());
  EXPECT_TRUE(std::filesystem::is_directory(trial.checkpoint()));
  EXPECT_EQ(trial.report(), scratch.path() / "own/trials/0007/report");
  EXPECT_TRUE(std::filesystem::exists(trial.report()));
}

TEST(StudyDir, TrialsOfAnotherStudyAreNotTakenOver) {
  const TempDir scratch;
  const StudyDir dir(scratch.path() / "a.bapi");
  dir.require_no_trials();
  dir.create();
  dir.require_no_trials();
  dir.trial(TrialId{0}).create();
  EXPECT_THROW(dir.require_no_trials(), InvalidInput);
  dir.remove_trials();
  dir.require_no_trials();
}

TEST(StudyDir, LinksAreNotFollowed) {
  const TempDir scratch;
  std::ofstream(scratch.path() / "precious") << "mine";
  const TrialDir trial = StudyDir(scratch.path() / "a.bapi").trial(TrialId{0});
  std::filesystem::create_directories(trial.root);
  std::filesystem::create_symlink(scratch.path() / "precious", trial.log());
  EXPECT_THROW(trial.create(), StoreError);
  EXPECT_EQ(text_of(scratch.path() / "precious"), "mine");
}

// Needs root, who may hand a directory to somebody else.
TEST(StudyDir, OfAnotherUserIsRefusedAndOfRootIsNot) {
  if (::geteuid() != 0) GTEST_SKIP();
  const TempDir scratch;
  constexpr uid_t kOwner = 12345;
  constexpr uid_t kUser = 12346;
  std::filesystem::create_directories(scratch.path() / "theirs");
  ASSERT_EQ(::chown((scratch.path() / "theirs").c_str(), kOwner, kOwner), 0);
  EXPECT_NO_THROW(require_own_directory(scratch.path() / "theirs"));
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0755), 0);
  ASSERT_EQ(::seteuid(kUser), 0);
  EXPECT_THROW(require_own_directory(scratch.path() / "theirs"), StoreError);
  EXPECT_NO_THROW(require_own_directory(scratch.path()));
  ASSERT_EQ(::seteuid(0), 0);
}

TEST(StudyDir, WhatCannotBeWrittenIsAStoreError) {
  const TempDir scratch;
  std::ofstream(scratch.path() / "file") << "in the way";
  EXPECT_THROW(StudyDir(scratch.path() / "file").create(), StoreError);
  EXPECT_THROW(StudyDir(scratch.path() / "file").trial(TrialId{0}).create(), StoreError);
  EXPECT_THROW(replace_file(scratch.path() / "file" / "x", "text"), StoreError);
  EXPECT_THROW(replace_file("/dev/full/x", "text"), StoreError);
}

TEST(ReplaceFile, LeavesTheNewContentAndNothingElse) {
  const TempDir scratch;
  replace_file(scratch.path() / "file", "first and long");
  replace_file(scratch.path() / "file", "second");
  EXPECT_EQ(read_whole_file(scratch.path() / "file"), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
  EXPECT_FALSE(read_whole_file(scratch.path() / "none").has_value());
}

}  // namespace study_dir_test
}  // namespace bapi
