#include "bapi/process/command.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bapi/base/error.h"

namespace bapi {
namespace {

using Strings = std::vector<std::string>;

StudySpec spec_with(const Strings& command) {
  StudySpec spec;
  spec.command = command;
  spec.seed = 7;
  spec.space = Space(
      {Param{.name = "lr", .domain = RealRange{.low = 1e-6, .high = 1.0, .scale = Scale::log}},
       Param{.name = "optimizer", .domain = Choice{.options = {Value{"sgd"}, Value{"adam"}}}},
       Param{.name = "momentum", .domain = RealRange{}, .when = {{.param = "optimizer", .values = {Value{"sgd"}}}}}});
  return spec;
}

Assignment assignment() {
  return {.segment = {.trial = TrialId{7},
                      .config = {{Value{0.001}, Value{"adam"}, Value{}}},
                      .from = 3,
                      .until = 9,
                      .max_epoch = 27,
                      .budget_left = 12.5},
          .from = 3,
          .dir = StudyDir("/studies/mlp.bapi").trial(TrialId{7}),
          .deadline = 1700000000.25};
}

TEST(ExpandCommand, ReplacesParametersAndMacrosInsideArguments) {
  EXPECT_EQ(expand_command(spec_with({"train", "--lr=${lr}", "${trial}:${from}-${until}", "${config}", "${dir}"}),
                           assignment()),
            (Strings{"train",
                     "--lr=0.001",
                     "7:3-9",
                     "/studies/mlp.bapi/trials/0007/config.json",
                     "/studies/mlp.bapi/trials/0007"}));
  EXPECT_EQ(expand_command(spec_with({"${checkpoint}"}), assignment()),
            (Strings{"/studies/mlp.bapi/trials/0007/checkpoint"}));
}

TEST(ExpandCommand, LeavesOutOfArgsWhatDoesNotApply) {
  EXPECT_EQ(expand_command(spec_with({"train", "${args}", "-v", "m${momentum}"}), assignment()),
            (Strings{"train", "--lr", "0.001", "--optimizer", "adam", "-v", "m"}));
}

TEST(ExpandCommand, NeverSplitsOrInterprets) {
  Assignment hostile = assignment();
  hostile.segment.config.values[1] = Value{"a b; rm $HOME ${lr}"};
  EXPECT_EQ(expand_command(spec_with({"train", "${optimizer}", "$HOME", "$(ls)"}), hostile),
            (Strings{"train", "a b; rm $HOME ${lr}", "$HOME", "$(ls)"}));
}

TEST(ExpandCommand, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(expand_command(spec_with({"${rate}"}), assignment()), InvalidInput);
  EXPECT_THROW(expand_command(spec_with({"${lr"}), assignment()), InvalidInput);
  EXPECT_THROW(expand_command(spec_with({"x${args}"}), assignment()), InvalidInput);
}

TEST(TrainingEnvironment, TellsTheAssignmentAndTheLaterValueWins) {
  StudySpec spec = spec_with({"train"});
  spec.env = {{"THREADS", "4"}, {"BAPI_TRIAL", "9"}};
  const Strings environment =
      training_environment(spec, assignment(), {"PATH=/bin", "THREADS=1", "BAPI_DEADLINE=0", "ODD"});
  const auto has = [&](const std::string& variable) {
    return std::count(environment.begin(), environment.end(), variable) == 1;
  };
  for (const char* variable : {"PATH=/bin",
                               "THREADS=4",
                               "BAPI_TRIAL=7",
                               "BAPI_METRIC=value",
                               "PYTHONUNBUFFERED=1",
                               "BAPI_FROM_EPOCH=3",
                               "BAPI_UNTIL_EPOCH=9",
                               "BAPI_MAX_EPOCH=27",
                               "BAPI_BUDGET_LEFT=12.5",
                               "BAPI_DEADLINE=1700000000.250",
                               "BAPI_DIR=/studies/mlp.bapi/trials/0007",
                               "BAPI_REPORT=/studies/mlp.bapi/trials/0007/report"}) {
    EXPECT_TRUE(has(variable)) << variable;
  }
  const Strings buffered = training_environment(spec, assignment(), {"PYTHONUNBUFFERED="});
  EXPECT_EQ(std::count(buffered.begin(), buffered.end(), "PYTHONUNBUFFERED="), 1) << "the user's own choice";
  Assignment unhurried = assignment();
  unhurried.deadline.reset();
  for (const std::string& variable : training_environment(spec, unhurried, {"BAPI_DEADLINE=0"})) {
    EXPECT_NE(variable.rfind("BAPI_DEADLINE", 0), 0u);
  }
}

TEST(TrainingEnvironment, KeepsTheDatabaseOfTheStudyFromTheProgram) {
  StudySpec spec = spec_with({"train"});
  const auto names_in = [&](const Strings& inherited) {
    std::string names;
    for (const std::string& variable : training_environment(spec, assignment(), inherited)) {
      if (variable.starts_with("PG") || variable.starts_with("BAPI_STORAGE")) names += variable + " ";
    }
    return names;
  };
  EXPECT_EQ(names_in({"PGHOST=data", "PGPASSWORD=own"}), "PGHOST=data PGPASSWORD=own ") << "not ours";
  EXPECT_EQ(names_in({"PGHOST=db", "BAPI_STORAGE=postgresql://db/tuning", "PGPASSWORD=secret"}), "");
  spec.env = {{"PGHOST", "data"}};
  EXPECT_EQ(names_in({"PGHOST=db", "BAPI_STORAGE=postgresql://db/tuning"}), "PGHOST=data ") << "the study's own";
}

TEST(TrialSeed, DependsOnStudyAndTrialOnlyAndFits31Bits) {
  const StudySpec spec = spec_with({"train"});
  StudySpec other = spec;
  other.seed = 8;
  EXPECT_EQ(trial_seed(spec, TrialId{3}), trial_seed(spec, TrialId{3}));
  EXPECT_NE(trial_seed(spec, TrialId{3}), trial_seed(spec, TrialId{4}));
  EXPECT_NE(trial_seed(spec, TrialId{3}), trial_seed(other, TrialId{3}));
  EXPECT_LT(trial_seed(spec, TrialId{3}), 1ULL << 31U);
}

}  // namespace
}  // namespace bapi
