#include "bapi/studies/new_study_file.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/study/spec_file.h"

namespace bapi {
namespace {

using Words = std::vector<std::string>;

StudySpec read(const std::string& text) { return parse_study_file(text, "study.yaml"); }

StudySpec of_sweep(const std::string& text, Words* notes = nullptr) {
  Words told;
  const StudySpec spec = read(study_file_of_sweep(text, "sweep.yaml", told));
  if (notes) *notes = told;
  return spec;
}

TEST(NewStudyFile, TheTemplateIsAStudyFile) { EXPECT_EQ(read(study_file_template()).name, "mlp"); }

TEST(NewStudyFile, IsCalledAfterTheScriptAndHandsOverEveryParameter) {
  const StudySpec spec = read(study_file_for({"python3", "src/train_net.py", "--data", "a b", "--quiet: yes"}));
  EXPECT_EQ(spec.name, "train_net");
  EXPECT_EQ(spec.command, (Words{"python3", "src/train_net.py", "--data", "a b", "--quiet: yes", "${args}"}));
  EXPECT_EQ(read(study_file_for({"./fit", "\"", "\\"})).command, (Words{"./fit", "\"", "\\", "${args}"}));
  EXPECT_EQ(read(study_file_for({"./fit"})).name, "fit");
}

TEST(NewStudyFile, ACommandWithMacrosIsKept) {
  EXPECT_EQ(read(study_file_for({"./fit", "--lr=${lr}"})).command, (Words{"./fit", "--lr=${lr}"}));
}

TEST(NewStudyFile, MacrosThatCarryNoParameterDoNotReplaceThem) {
  EXPECT_EQ(read(study_file_for({"./fit", "--out", "${checkpoint}"})).command,
            (Words{"./fit", "--out", "${checkpoint}", "${args}"}));
  EXPECT_EQ(read(study_file_for({"./fit", "${config}"})).command, (Words{"./fit", "${config}"}));
}

TEST(NewStudyFile, ASweepIsTranslated) {
  Words notes;
  const StudySpec spec = of_sweep(R"(
program: train.py
method: bayes
name: cifar
project: vision
metric: {name: val/loss, goal: minimize}
early_terminate: {type: hyperband, max_iter: 27}
command: ["${env}", "${interpreter}", "${program}", --fast, "${args}"]
parameters:
  lr: {distribution: log_uniform_values, min: 0.0001, max: 0.1}
  batch: {values: [32, 64, 128]}
  optimizer: {values: [adam, "1"]}
  layers: {value: 3}
)",
                                  &notes);
  EXPECT_EQ(spec.name, "cifar");
  EXPECT_EQ(spec.command, (Words{"python3", "train.py", "--fast", "${args}"}));
  EXPECT_EQ(spec.metric, (Metric{.name = "val/loss", .goal = Goal::minimize}));
  EXPECT_EQ(spec.epochs.max, 27);
  EXPECT_EQ(spec.policy.name, "bapi");
  ASSERT_EQ(spec.space.params().size(), 4u);
  EXPECT_EQ(spec.space.params()[0].domain, Domain(RealRange{.low = 1e-4, .high = 0.1, .scale = Scale::log}));
  EXPECT_EQ(std::get<Choice>(spec.space.params()[2].domain).options[1], Value(std::string("1")));
  EXPECT_EQ(notes, (Words{"project: left out", "budget: a sweep has none; 30m is a guess"}));
}

TEST(NewStudyFile, ASweepWithoutACommandRunsItsProgram) {
  const StudySpec spec =
      of_sweep("program: fit.py\nmethod: random\nmetric: {name: loss}\nparameters: {x: {min: 0.0, max: 1.0}}\n");
  EXPECT_EQ(spec.command, (Words{"python3", "fit.py", "${args}"}));
  EXPECT_EQ(spec.metric.goal, Goal::minimize);
  EXPECT_EQ(spec.policy.name, "random");
}

TEST(NewStudyFile, TheWaysToGiveParametersAreTranslated) {
  const auto command = [](const std::string& macro, Words* notes = nullptr) {
    return of_sweep("command: [python, a.py, \"" + macro + "\"]\nmetric: {name: loss}\n" +
                        "parameters: {lr: {min: 0.1, max: 1.0}, units: {min: 16, max: 256}}\n",
                    notes)
        .command;
  };
  Words notes;
  EXPECT_EQ(command("${args}"), (Words{"python", "a.py", "${args}"}));
  EXPECT_EQ(command("${args_no_hyphens}"), (Words{"python", "a.py", "lr=${lr}", "units=${units}"}));
  EXPECT_EQ(command("${args_json_file}"), (Words{"python", "a.py", "${config}"}));
  EXPECT_EQ(command("${args_json}", &notes), (Words{"python", "a.py", "${args}"}));
  EXPECT_EQ(notes.front(),
            "command: ${args_json} has no counterpart; ${args} gives --NAME VALUE, ${config} the path of a JSON file");
}

TEST(NewStudyFile, ANameThatNoStudyCanHaveIsTold) {
  Words notes;
  const StudySpec spec = of_sweep(
      "name: my sweep\nprogram: fit.py\nmetric: {name: loss}\nparameters: {x: {min: 0.0, max: 1.0}}\n", &notes);
  EXPECT_EQ(spec.name, "fit");
  EXPECT_NE(std::find(notes.begin(), notes.end(), "name: 'my sweep' cannot name a study; it is fit"), notes.end());
}

TEST(NewStudyFile, ASweepWithoutAMetricGetsOneToBeChanged) {
  Words notes;
  EXPECT_EQ(of_sweep("program: a.py\nmethod: grid\nparameters: {x: {values: [a, b]}}\n", &notes).metric.name,
            "accuracy");
  EXPECT_EQ(notes.front(), "metric: the sweep names none; accuracy is a guess");
}

TEST(NewStudyFile, MistakesOfASweepHaveTheirPlace) {
  Words notes;
  try {
    study_file_of_sweep(
        "program: a.py\nmetric: {name: loss}\nparameters:\n  x: {distribution: beta, a: 1}\n", "sweep.yaml", notes);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_EQ(std::string(error.what()).find("sweep.yaml:4:"), 0u) << error.what();
  }
}

}  // namespace
}  // namespace bapi
