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
      {[](StudySpec& s) { s.name = "other"; }, "name: here other; in the study sample"},
      {[](StudySpec& s) { s.budget.unit = "epochs"; }, "budget: here in epochs; in the study in s"},
      {[](StudySpec& s) { s.epochs.max = 10; }, "epochs.max: here 10; in the study 9"},
      {[](StudySpec& s) { s.seed = 1; }, "seed: here 1; in the study 0"},
      {[](StudySpec& s) { s.policy.options["horizon"] = std::int64_t{8}; },
       "policy: here bapi horizon=8; in the study bapi"},
      {[](StudySpec& s) { s.space = Space({s.space.params()[0]}); },
       "parameters.units: here none; in the study 16 to 256, whole numbers"},
      {[](StudySpec& s) { s.pool = {sample_config(0.1, 32)}; }, "pool: here 1 configurations; in the study 0 others"}};
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
            (std::vector<std::string>{"metric.name: here loss; in the study accuracy",
                                      "metric.goal: here minimize; in the study maximize",
                                      "checkpoint: here none; in the study kept"}));
  EXPECT_EQ(change.settings.front(), (SettingChange{.field = "metric.name", .before = "accuracy", .after = "loss"}));
}

TEST(SpecChange, BoundsOfTheMetricMayChange) {
  const SpecChange change = after([](StudySpec& s) { s.metric.bounds = MetricBounds{.low = 0.0}; });
  EXPECT_TRUE(change.frozen.empty());
  EXPECT_TRUE(change.correctable.empty());
  EXPECT_EQ(change.free, std::vector<std::string>{"metric.bounds: here [0, null]; in the study none"});
}

TEST(SpecChange, ParametersAreComparedOneByOne) {
  const SpecChange change = after([](StudySpec& s) {
    s.space = Space({{.name = "lr", .domain = RealRange{.low = 1e-5, .high = 1.0, .scale = Scale::log}},
                     {.name = "units", .domain = IntRange{.low = 16, .high = 256}},
                     {.name = "depth", .domain = IntRange{.low = 1, .high = 4}}});
  });
  EXPECT_EQ(change.frozen,
            (std::vector<std::string>{"parameters.lr: here 1e-05 to 1, log scale; in the study 0.0001 to 1, log scale",
                                      "parameters.depth: here 1 to 4, whole numbers; in the study none"}));
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
            (std::vector<std::string>{"command: here [\"train\", \"-v\"]; in the study [\"train\"]",
                                      "deadline: here 60 s; in the study none",
                                      "workers: here 4; in the study 1",
                                      "grace: here 5 s; in the study 2 s",
                                      "report_timeout: here 10 s; in the study 3600 s",
                                      "max_failures: here 3; in the study 10",
                                      "env.OMP_NUM_THREADS: here \"1\"; in the study none",
                                      "retries: here 2; in the study 1",
                                      "cwd: here /home/a; in the study none",
                                      "lockstep: here false; in the study none"}));
}

}  // namespace
}  // namespace bapi
