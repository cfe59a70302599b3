#include "bapi/cli/study_input.h"

#include <fmt/format.h>

#include <filesystem>

#include "bapi/base/error.h"
#include "bapi/studies/study_file.h"
#include "bapi/study/metric_bounds.h"
#include "bapi/study/names.h"

namespace bapi {

namespace {

// The study is called after the training program: ./train -> train, python3 train.py -> train.
std::string name_of_command(const std::vector<std::string>& command) {
  const auto stem = [](const std::string& word) { return std::filesystem::path(word).stem().string(); };
  for (const std::string& word : command) {
    const std::string extension = std::filesystem::path(word).extension().string();
    if (extension == ".py" || extension == ".sh" || extension == ".jl" || extension == ".R") return stem(word);
  }
  return command.empty() ? "study" : stem(command.front());
}

StudySpec inline_spec(const StudyInput& input) {
  require(input.overrides.budget.has_value(), "the inline form needs --budget, for example --budget 30m");
  require(input.metric.has_value(),
          "the inline form needs --metric NAME, the name of the value that the program reports");
  require(input.epochs.has_value(), "the inline form needs --epochs N, the maximum number of epochs per trial");
  InlineCommand parsed = parse_inline_command(input.command);
  require(!parsed.params.empty(),
          "nothing to tune: give at least one argument as --name~domain, for example --lr~'log(1e-5,1)'");
  StudySpec spec;
  spec.name = name_of_command(parsed.command);
  spec.command = std::move(parsed.command);
  spec.space = Space(std::move(parsed.params));
  return spec;
}

}  // namespace

void declare(StudyChanges& changes, Arguments& arguments) {
  arguments.option(
      "-b,--budget", changes.budget, "Total budget: 30m, 2h, \"500 epochs\", \"12 usd\" (a total, not an increment)");
  arguments.option("--deadline", changes.deadline, "Wall-clock limit, counted from the study's first decision: 1h");
  arguments.option("-w,--workers", changes.workers, "Number of trials to train at the same time");
}

void StudyInput::declare(Arguments& arguments) {
  arguments.optional_positional("FILE", file, "Study file; instead of it, a command can follow --");
  arguments.after_dashes(command);
  bapi::declare(overrides, arguments);
  arguments.option("-n,--name", name, "Name of the study; default: from the file or the program");
  arguments.option("-p,--policy", policy, "Policy to use (see bapi policies)");
  arguments.option("--seed", seed, "Random seed");
  arguments.option("-e,--epochs", epochs, "Maximum number of epochs per trial");
  arguments.option("-m,--metric", metric, "Name of the reported metric; maximized unless --minimize is given");
  arguments.flag("--minimize", minimize, "Minimize the metric");
  arguments.option("--bounds", bounds, "Bounds of the metric: 0,1; an end that is left out is open: 0,");
  arguments.options("--from", from, "Earlier study to start from (docs/warm-start.md); may be repeated");
}

std::filesystem::path home_of(const StudyInput& input) {
  return input.file.empty() ? std::filesystem::current_path()
                            : std::filesystem::absolute(input.file).lexically_normal().parent_path();
}

StudySpec spec_of(const StudyInput& input) {
  require(input.file.empty() || input.command.empty(), "give a study file or a command after --, not both");
  require(!input.file.empty() || !input.command.empty(),
          "no training program given: pass a study file (create one with bapi init) or a command after --");
  StudySpec spec = input.file.empty() ? inline_spec(input) : read_study_file(input.file, input.name);
  if (input.name) spec.name = *input.name;
  if (input.metric) {
    if (const auto mistake = metric_name_mistake(*input.metric)) throw InvalidInput("--metric: " + *mistake);
    spec.metric.name = *input.metric;
  }
  if (input.minimize) spec.metric.goal = Goal::minimize;
  if (input.bounds) spec.metric.bounds = parse_bounds(*input.bounds, "--bounds");
  if (input.epochs) spec.epochs.max = *input.epochs;
  if (input.policy && *input.policy != spec.policy.name) spec.policy = {.name = *input.policy};
  if (input.seed) spec.seed = *input.seed;
  for (const std::string& study : input.from) spec.from.push_back({.study = study});
  apply(input.overrides, spec);
  return spec;
}

}  // namespace bapi
