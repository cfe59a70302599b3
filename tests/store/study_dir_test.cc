#include "bapi/store/study_dir.h"
#include "bapi/base/file.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

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

}  // namespace
}  // namespace bapi
