#include "bapi/studies/spec_change.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/report/sample_study.h"

namespace bapi {
namespace {

SpecChange after(const std::function<void(StudySpec&)>& edit) {
  StudySpec wanted = sample_spec();
  edit(wanted);
  return compare(sample_spec(), wanted);
}

TEST(SpecChange, NothingDiffersFromItself) {
  const SpecChange change = after([](StudySpec&) {});
  EXPECT_TRUE(change.frozen.empty());
  EXPECT_TRUE(change.free.empty());
}

TEST(SpecChange, WhatIsTrainedAndHowItIsJudgedIsFrozen) {
  const std::vector<std::pair<std::function<void(StudySpec&)>, std::string>> edits = {
      {[](StudySpec& s) { s.name = "other"; }, "name: other here, sample in the study"},
      {[](StudySpec& s) { s.budget.unit = "epochs"; }, "budget: epochs here, s in the study"},
      {[](StudySpec& s) { s.epochs.max = 10; }, "epochs.max: 10 here, 9 in the study"},
      {[](StudySpec& s) { s.seed = 1; }, "seed: 1 here, 0 in the study"},
      {[](StudySpec& s) { s.policy.options["horizon"] = std::int64_t{8}; },
       "policy: bapi horizon=8 here, bapi in the study"},
      {[](StudySpec& s) { s.space = Space({s.space.params()[0]}); },
       "parameters.units: none here, 16 to 256, whole numbers in the study"},
      {[](StudySpec& s) { s.pool = {sample_config(0.1, 32)}; }, "pool: 1 configurations here, 0 others in the study"}};
  for (const auto& [edit, message] : edits) {
    const SpecChange change = after(edit);
    EXPECT_EQ(change.frozen, std::vector<std::string>{message});
    EXPECT_TRUE(change.free.empty());
  }
}

TEST(SpecChange, WhatReportsMeanIsCorrectableUntilThereIsOne) {
  const SpecChange change = after([](StudySpec& s) {
    s.metric = {.name = "loss", .goal = Goal::minimize};
    s.checkpoint = Checkpoint::none;
  });
  EXPECT_TRUE(change.frozen.empty());
  EXPECT_EQ(change.correctable,
            (std::vector<std::string>{"metric.name: loss here, accuracy in the study",
                                      "metric.goal: minimize here, maximize in the study",
                                      "checkpoint: none here, kept in the study"}));
  EXPECT_EQ(change.settings.front(), (SettingChange{.field = "metric.name", .before = "accuracy", .after = "loss"}));
}

TEST(SpecChange, BoundsOfTheMetricMayChange) {
  const SpecChange change = after([](StudySpec& s) { s.metric.bounds = MetricBounds{.low = 0.0}; });
  EXPECT_TRUE(change.frozen.empty());
  EXPECT_TRUE(change.correctable.empty());
  EXPECT_EQ(change.free, std::vector<std::string>{"metric.bounds: [0, null] here, none in the study"});
}

TEST(SpecChange, ParametersAreComparedOneByOne) {
  const SpecChange change = after([](StudySpec& s) {
    s.space = Space({{.name = "lr", .domain = RealRange{.low = 1e-5, .high = 1.0, .scale = Scale::log}},
                     {.name = "units", .domain = IntRange{.low = 16, .high = 256}},
                     {.name = "depth", .domain = IntRange{.low = 1, .high = 4}}});
  });
  EXPECT_EQ(change.frozen,
            (std::vector<std::string>{"parameters.lr: 1e-05 to 1, log scale here, 0.0001 to 1, log scale in the study",
                                      "parameters.depth: 1 to 4, whole numbers here, none in the study"}));
}

TEST(SpecChange, HowItIsRunIsFree) {
  const SpecChange change = after([](StudySpec& s) {
    s.workers = 4;
    s.deadline = 60.0;
    s.grace = 5.0;
    s.report_timeout = 10.0;
    s.max_failures = 3;
    s.env.emplace("OMP_NUM_THREADS", "1");
    s.retries = 2;
    s.cwd = "/home/a";
    s.lockstep = false;
    s.command.push_back("-v");
    s.budget.limit = 1.0;  // an event says this one
  });
  EXPECT_TRUE(change.frozen.empty());
  EXPECT_EQ(change.free,
            (std::vector<std::string>{"command: [\"train\", \"-v\"] here, [\"train\"] in the study",
                                      "deadline: 60 s here, none in the study",
                                      "workers: 4 here, 1 in the study",
                                      "grace: 5 s here, 2 s in the study",
                                      "report_timeout: 10 s here, 3600 s in the study",
                                      "max_failures: 3 here, 10 in the study",
                                      "env.OMP_NUM_THREADS: \"1\" here, none in the study",
                                      "retries: 2 here, 1 in the study",
                                      "cwd: /home/a here, none in the study",
                                      "lockstep: false here, none in the study"}));
}

}  // namespace
}  // namespace bapi
