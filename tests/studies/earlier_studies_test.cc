#include "bapi/studies/earlier_studies.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bapi/base/error.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/studies/run_study.h"
#include "bapi/studies/spec_change.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace earlier_studies_test {

// Reports x, with the number of the epoch as one more digit.
StudySpec linear_study(const std::string& name) {
  StudySpec spec;
  spec.name = name;
  spec.command = {"sh",
                  "-c",
                  "for e in $(seq 1 $BAPI_MAX_EPOCH); do "
                  "echo \"bapi: {\\\"epoch\\\": $e, \\\"value\\\": $1$e}\"; done",
                  "sh",
                  "${x}"};
  spec.space = Space({{.name = "x", .domain = RealRange{}}});
  spec.budget = {.limit = 18, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 3};
  spec.checkpoint = Checkpoint::none;
  spec.policy = {.name = "random"};
  return spec;
}

class EarlierStudies : public testing::Test {
 protected:
  StudyDir dir(const std::string& name) const { return StudyDir(temp_.path() / (name + ".bapi")); }
  std::string path(const std::string& name) const { return (temp_.path() / name).string(); }

  StudySpec from_old(const std::string& study = "old.bapi") const {
    StudySpec spec = linear_study("new");
    spec.from = {{.study = path(study)}};
    return spec;
  }

  std::string refusal(const StudySpec& spec) const {
    try {
      with_earlier_studies(spec, dir("new").root(), {});
    } catch (const std::exception& error) {
      return error.what();
    }
    return "accepted";
  }

  test::TempDir temp_;
};

TEST_F(EarlierStudies, AreReadOnceAndKeptInTheNewStudy) {
  run_study(linear_study("old"), dir("old"));
  std::vector<std::string> lines;
  const StudySummary first =
      run_study(from_old(), dir("new"), {.tell = [&](const std::string& line) { lines.push_back(line); }});
  ASSERT_EQ(first.study.spec().earlier.size(), 1U);
  const EarlierStudy earlier = first.study.spec().earlier.front();
  EXPECT_EQ(earlier.trials.size(), 6U);
  EXPECT_EQ(earlier.place, path("old.bapi"));
  EXPECT_NE(lines.front().find("warm start from"), std::string::npos);
  std::filesystem::remove_all(path("old.bapi"));
  StudySpec more = from_old();
  more.budget.limit = 24;
  EXPECT_EQ(run_study(more, dir("new")).study.spec().earlier.front(), earlier);
  EXPECT_EQ(resume_study(dir("new"), {.budget = "27 epochs"}).study.spec().earlier.front(), earlier);
}

TEST_F(EarlierStudies, TheSameLogGivesTheSameDecisionsWithAndWithoutTheEarlierStudy) {
  run_study(linear_study("old"), dir("old"));
  StudySpec spec = from_old();
  spec.policy.name = "bapi";
  spec.budget.limit = 9;
  run_study(spec, dir("new"));
  std::filesystem::copy(path("new.bapi"), path("copy.bapi"), std::filesystem::copy_options::recursive);
  const StudySummary one = resume_study(dir("new"), {.budget = "20 epochs"});
  std::filesystem::remove_all(path("old.bapi"));
  const StudySummary two = resume_study(dir("copy"), {.budget = "20 epochs"});
  ASSERT_EQ(one.study.events.size(), two.study.events.size());
  for (std::size_t i = 0; i < one.study.events.size(); ++i) {
    EXPECT_EQ(one.study.events[i].event, two.study.events[i].event) << i;
  }
}

TEST_F(EarlierStudies, AStudyMayBeNamedWithoutItsEnding) {
  run_study(linear_study("old"), dir("old"));
  EXPECT_EQ(with_earlier_studies(from_old("old"), std::nullopt, {}).earlier.front().place, path("old.bapi"));
}

TEST_F(EarlierStudies, WhatCannotBeUsedIsRefusedWithTheReason) {
  EXPECT_NE(refusal(from_old()).find("there is no study"), std::string::npos) << refusal(from_old());
  std::filesystem::create_directory(path("empty.bapi"));
  EXPECT_NE(refusal(from_old("empty.bapi")).find("is not a study: it has no study.db"), std::string::npos);
  std::filesystem::create_directory(path("broken.bapi"));
  std::ofstream(path("broken.bapi/study.db")) << "no database";
  EXPECT_NE(refusal(from_old("broken.bapi")).find("from: "), std::string::npos) << refusal(from_old("broken.bapi"));

  run_study(linear_study("old"), dir("old"));
  StudySpec other = from_old();
  other.metric = {.name = "loss", .goal = Goal::minimize};
  EXPECT_NE(refusal(other).find("its metric is value, to maximize; that of this study is loss, to minimize"),
            std::string::npos);
  other.from.front().metric = "accuracy";
  EXPECT_NE(refusal(other).find("metric: found accuracy, but the metric of old.bapi is value"), std::string::npos);
  other.from.front().metric = "value";
  EXPECT_EQ(refusal(other), "accepted");

  StudySpec elsewhere = from_old();
  elsewhere.space = Space({{.name = "y", .domain = RealRange{}}});
  EXPECT_NE(refusal(elsewhere).find("has none of this study's parameters: it has x, the study y"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("new.bapi"))) << "nothing is made before everything is right";
}

TEST_F(EarlierStudies, AStudyDoesNotStartFromItself) {
  run_study(linear_study("old"), dir("old"));
  StudySpec itself = linear_study("old");
  itself.from = {{.study = path("old.bapi")}};
  try {
    with_earlier_studies(itself, dir("old").root(), {});
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("is this study itself"), std::string::npos) << error.what();
  }
}

TEST_F(EarlierStudies, OneWithoutAReportHasNothingToTeach) {
  { SqliteStore::create((dir("old").create(), dir("old").database()), linear_study("old")); }
  EXPECT_NE(refusal(from_old()).find("no trial of this study has finished an epoch"), std::string::npos)
      << refusal(from_old());
}

TEST_F(EarlierStudies, OthersAreFrozenOnceAnEpochWasReportedAndAMovedOneIsTheSame) {
  run_study(linear_study("old"), dir("old"));
  run_study(from_old(), dir("new"));
  StudySpec without = linear_study("new");
  EXPECT_THROW(run_study(without, dir("new")), InvalidInput);
  EXPECT_EQ(compare(from_old(), without).frozen, std::vector<std::string>{"from: here none; in the study [old.bapi]"});
  StudySpec moved = from_old("elsewhere/old.bapi");
  moved.budget.limit = 21;
  EXPECT_EQ(run_study(moved, dir("new")).study.history.budget().spent(), 21.0);
}

}  // namespace earlier_studies_test
}  // namespace bapi
