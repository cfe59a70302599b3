#include "bapi/study/spec_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"
#include "bapi/study/codec.h"
#include "bapi/study/spec_fields.h"

namespace bapi {
namespace spec_file_test {

using namespace std::string_literals;

constexpr std::int64_t operator""_i(unsigned long long value) { return static_cast<std::int64_t>(value); }

// A complete file, in which tests replace or add lines.
struct Lines {
  std::string command = "command: [./train, --lr, \"${lr}\"]";
  std::string metric = "metric: {name: accuracy, goal: maximize}";
  std::string budget = "budget: 30m";
  std::string epochs = "epochs: 100";
  std::string parameters = "parameters: {lr: {min: 0.1, max: 1.0}}";
  std::string more = {};

  std::string text() const {
    std::string joined;
    for (const std::string& line : {command, metric, budget, epochs, parameters, more}) {
      if (!line.empty()) joined += line + "\n";
    }
    return joined;
  }
};

StudySpec parse(const Lines& lines) { return parse_study_file(lines.text(), "study.yaml"); }

std::string message_of(const std::string& text) {
  try {
    parse_study_file(text, "study.yaml");
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

std::string message_of(const Lines& lines) { return message_of(lines.text()); }

Param param(const std::string& text) {
  return parse({.command = "command: [./train]", .parameters = "parameters:\n  x: " + text}).space.params().at(0);
}

Domain domain(const std::string& text) { return param(text).domain; }

std::string param_message(const std::string& text) {
  return message_of(Lines{.command = "command: [./train]", .parameters = "parameters:\n  x: " + text});
}

// ── what is read ────────────────────────────────────────────────────────────────────────────────────────────────────

TEST(SpecFile, ReadsEveryField) {
  const StudySpec spec = parse_study_file(R"(
name: mlp
command: [python3, train.py, --lr, "${lr}", --out, "${checkpoint}"]
metric: {name: loss, goal: minimize, smooth: 3, of: last, bounds: [0, null]}
budget: 30m
deadline: 1h
epochs: {min: 2, max: 100}
repeat: 3
workers: 2
gpus: {devices: [0, GPU-8f2c41d0], per_gpu: 3}
seed: 18446744073709551615
policy: {name: hyperband, eta: 3, mode: fast, share: 0.5, strict: true}
try: [{lr: 0.1, units: 64}, {optimizer: sgd, momentum: 0.5}]
checkpoint: none
checkpoints: {keep: best 3, final: no}
grace: 5s
report_timeout: 10m
max_failures: 3
retries: 2
lockstep: no
lease: 3m
cwd: ../code/
hooks: {best: [mail, -s, better, me], study_end: [./done.sh]}
env: {OMP_NUM_THREADS: 1, MODE: fast, EMPTY: }
parameters:
  lr:       {min: 1e-6, max: 1, log: true}
  units:    {min: 16, max: 256, type: int, log: true}
  optimizer: {values: [sgd, adam]}
  momentum: {min: 0.1, max: 0.9, when: {optimizer: sgd}}
  depth:    {value: 3}
)",
                                          "/home/me/dir/study.yaml");
  StudySpec expected;
  expected.name = "mlp";
  expected.command = {"python3", "train.py", "--lr", "${lr}", "--out", "${checkpoint}"};
  expected.metric = {
      .name = "loss", .goal = Goal::minimize, .smooth = 3, .of = ValueOf::last, .bounds = MetricBounds{.low = 0.0}};
  expected.repeat = 3;
  expected.budget = {.limit = 1800.0};
  expected.deadline = 3600.0;
  expected.epochs = {.min = 2, .max = 100};
  expected.workers = 2;
  expected.gpus = {.devices = {"0", "GPU-8f2c41d0"}, .per_gpu = 3};
  expected.seed = 18446744073709551615u;
  expected.policy = {.name = "hyperband",
                     .options = {{"eta", 3_i}, {"mode", "fast"s}, {"share", 0.5}, {"strict", true}}};
  expected.checkpoint = Checkpoint::none;
  expected.checkpoints = {.best = 3, .final = false};
  expected.grace = 5.0;
  expected.report_timeout = 600.0;
  expected.max_failures = 3;
  expected.retries = 2;
  expected.lockstep = false;
  expected.lease = 180.0;
  expected.cwd = "/home/me/code";
  expected.tries = {{{"lr", 0.1}, {"units", 64_i}}, {{"optimizer", "sgd"s}, {"momentum", 0.5}}};
  expected.hooks = {.best = {"mail", "-s", "better", "me"}, .study_end = {"./done.sh"}};
  expected.env = {{"OMP_NUM_THREADS", "1"}, {"MODE", "fast"}, {"EMPTY", ""}};
  expected.space = Space({{.name = "lr", .domain = RealRange{.low = 1e-6, .high = 1.0, .scale = Scale::log}},
                          {.name = "units", .domain = IntRange{.low = 16, .high = 256, .scale = Scale::log}},
                          {.name = "optimizer", .domain = Choice{.options = {"sgd"s, "adam"s}}},
                          {.name = "momentum",
                           .domain = RealRange{.low = 0.1, .high = 0.9},
                           .when = {{.param = "optimizer", .values = {"sgd"s}}}},
                          {.name = "depth", .domain = Constant{3_i}}});
  EXPECT_EQ(spec, expected);
}

TEST(SpecFile, FieldsLeftOutHaveTheirDefaults) {
  const StudySpec spec = parse({});
  EXPECT_EQ(spec.name, "study");
  EXPECT_EQ(spec.epochs, (EpochRange{.min = 1, .max = 100}));
  EXPECT_EQ(spec.deadline, std::nullopt);
  const StudySpec defaults;
  EXPECT_EQ(spec.workers, defaults.workers);
  EXPECT_EQ(spec.seed, defaults.seed);
  EXPECT_EQ(spec.policy, defaults.policy);
  EXPECT_EQ(spec.checkpoint, defaults.checkpoint);
  EXPECT_EQ(spec.grace, defaults.grace);
  EXPECT_EQ(spec.report_timeout, defaults.report_timeout);
  EXPECT_EQ(spec.max_failures, defaults.max_failures);
  EXPECT_EQ(spec.retries, 1);
  EXPECT_EQ(spec.cwd, "");
}

TEST(SpecFile, CheckpointsToKeepAreAllOrTheBest) {
  EXPECT_EQ(parse({.more = "checkpoints: {keep: all}"}).checkpoints, KeptCheckpoints{});
  EXPECT_EQ(parse({.more = "checkpoints: {keep: 2}"}).checkpoints, (KeptCheckpoints{.best = 2}));
  EXPECT_EQ(parse({.more = "checkpoints: {final: no}"}).checkpoints, (KeptCheckpoints{.final = false}));
}

TEST(SpecFile, GpusAreListedOrFoundAndSetTheWorkersThatAreNotGiven) {
  const StudySpec listed = parse({.more = "gpus: [0, 1, 3]"});
  EXPECT_EQ(listed.gpus, (Gpus{.devices = {"0", "1", "3"}, .set_workers = true}));
  EXPECT_EQ(listed.workers, 3);
  EXPECT_EQ(parse({.more = "gpus: {devices: [0, 1], per_gpu: 2}"}).workers, 4);
  EXPECT_EQ(parse({.more = "gpus: [0, 1]\nworkers: 1"}).workers, 1);
  EXPECT_EQ(parse({.more = "gpus: auto"}).gpus, (Gpus{.automatic = true, .set_workers = true}));
  EXPECT_EQ(parse({.more = "gpus: none"}).gpus, Gpus{});
}

TEST(SpecFile, BoundsAreTwoEndsOfWhichEitherMayBeOpen) {
  const auto bounds = [](const std::string& text) {
    return parse({.metric = "metric: {name: loss, goal: minimize, bounds: " + text + "}"}).metric.bounds;
  };
  EXPECT_EQ(bounds("[0, 1]"), (MetricBounds{.low = 0.0, .high = 1.0}));
  EXPECT_EQ(bounds("[~, 21.5]"), MetricBounds{.high = 21.5});
  EXPECT_EQ(bounds("[null, null]"), MetricBounds{});
  EXPECT_EQ(parse({}).metric.bounds, std::nullopt);
  const StudySpec spec = parse({.metric = "metric: {name: loss, goal: minimize, bounds: [0, null]}"});
  EXPECT_EQ(decode_spec(encode(spec)), spec);
  const auto message = [](const std::string& text) {
    return message_of(Lines{.metric = "metric: {name: loss, goal: minimize, bounds: " + text + "}"});
  };
  EXPECT_NE(message("[1, 0]").find("the lower end is not below the upper one"), std::string::npos);
  EXPECT_NE(message("[0]").find("found 1 values, expected two numbers such as [0, 1]"), std::string::npos);
  EXPECT_NE(message("1").find("expected two numbers such as [0, 1]"), std::string::npos);
  EXPECT_NE(message("[low, 1]").find("expected a number"), std::string::npos);
}

TEST(SpecFile, MistakesInWhatCountsAndInRepeats) {
  EXPECT_EQ(message_of(Lines{.metric = "metric: {name: loss, goal: minimize, of: first}"}),
            "study.yaml:2:42: metric.of: found 'first', expected best or last");
  EXPECT_EQ(message_of(Lines{.metric = "metric: {name: loss, goal: minimize, smooth: 0}"}),
            "study.yaml:2:38: metric.smooth: 0, must be at least 1");
  EXPECT_EQ(
      message_of(Lines{.metric = "metric: {name: loss, goal: minimize, smooth: 1000000}"}),
      "study.yaml:2:1: metric: smooth is 1000000, but a full training has 100 epochs; expected no more than these");
  EXPECT_EQ(message_of(Lines{.more = "repeat: 0"}), "study.yaml:6:1: repeat: 0, must be at least 1");
  EXPECT_EQ(message_of(Lines{.more = "repeat: 101"}),
            "study.yaml:6:1: repeat: 101, expected how often every finalist is trained, 1 to 100");
  EXPECT_EQ(
      message_of(Lines{.budget = "budget: 300 epochs", .more = "repeat: 3"}),
      "study.yaml:6:1: repeat: 3 trainings of 100 epochs and a search do not fit a budget of 300 epochs; expected at "
      "least 400 epochs. Raise the budget, or lower repeat or epochs");
}

TEST(SpecFile, MistakesInGpus) {
  EXPECT_EQ(
      message_of(Lines{.more = "gpus: 2"}),
      "study.yaml:6:7: gpus: found '2', expected auto, none, a list such as [0, 1], or {devices: auto, per_gpu: 2}");
  EXPECT_EQ(message_of(Lines{.more = "gpus: []"}),
            "study.yaml:6:7: gpus: found an empty list, expected at least one GPU, or gpus: none");
  EXPECT_EQ(message_of(Lines{.more = "gpus: [-1]"}),
            "study.yaml:6:8: gpus[0]: found '-1', expected the number of a GPU, or its UUID (GPU-8f2c41d0-...)");
  EXPECT_EQ(message_of(Lines{.more = "gpus: {per_gpu: 2}"}),
            "study.yaml:6:7: gpus: found no 'devices', expected for example {devices: auto, per_gpu: 2}");
  EXPECT_EQ(message_of(Lines{.more = "gpus: {devices: auto, per_gpu: 0}"}),
            "study.yaml:6:23: gpus.per_gpu: 0, must be at least 1");
  EXPECT_EQ(message_of(Lines{.more = "gpus: [0, 1]\nworkers: 3"}),
            "study.yaml:7:1: workers: 3, but gpus has places for 2; give more GPUs, or let workers share them: gpus: "
            "{devices: [0, 1], per_gpu: 2}");
  EXPECT_EQ(message_of(Lines{.more = "gpus: auto\nenv: {CUDA_VISIBLE_DEVICES: 0}"}),
            "study.yaml:7:1: env: CUDA_VISIBLE_DEVICES is set for every worker by gpus; leave one of them out");
}

TEST(SpecFile, MistakesInConfigurationsToTry) {
  EXPECT_EQ(message_of(Lines{.more = "try: {lr: 0.5}"}),
            "study.yaml:6:6: try: found a mapping, expected a list of configurations such as [{lr: 0.1}]");
  EXPECT_EQ(message_of(Lines{.more = "try: [{lr: 0.5}, {lr: 2}]"}),
            "study.yaml:6:18: try[1]: lr: found 2, expected a number from 0.1 to 1");
  EXPECT_EQ(message_of(Lines{.more = "try: [{rate: 0.5}]"}),
            "study.yaml:6:7: try[0]: there is no parameter rate; the study has lr");
  EXPECT_EQ(message_of(Lines{.more = "try: [{}]"}),
            "study.yaml:6:7: try[0]: found no value, expected at least one, for example lr=0.1");
}

TEST(SpecFile, MistakesInHooks) {
  EXPECT_EQ(message_of(Lines{.more = "hooks: {best: ./mail.sh}"}),
            "study.yaml:6:15: hooks.best: found a string, expected a list with one item per argument, because there is "
            "no shell: [./mail.sh]");
  EXPECT_EQ(message_of(Lines{.more = "hooks: {ends: [true]}"}),
            "study.yaml:6:9: hooks: unknown key 'ends', expected one of epoch, best, trial_end, study_end");
}

TEST(SpecFile, TheStudyIsCalledAfterItsFile) {
  EXPECT_EQ(parse_study_file(Lines{}.text(), "a/b.c/mlp.yaml").name, "mlp");
  EXPECT_EQ(parse_study_file(Lines{}.text(), "plain").name, "plain");
  EXPECT_EQ(parse_study_file(Lines{.more = "name: other"}.text(), "mlp.yaml").name, "other");
}

TEST(SpecFile, ReadsEveryFormOfBudget) {
  const BudgetSpec half_hour = {.limit = 1800.0};
  const BudgetSpec epochs = {.limit = 500.0, .unit = "epochs", .meter = Meter::epochs};
  const std::vector<std::pair<std::string, BudgetSpec>> cases = {
      {"30m", half_hour},
      {"1800", half_hour},
      {"1800s", half_hour},
      {"0.5h", half_hour},
      {"{limit: 30m}", half_hour},
      {"{limit: 30, unit: minutes}", half_hour},
      {"\"500 epochs\"", epochs},
      {"500 epochs", epochs},
      {"{limit: 500, unit: epochs}", epochs},
      {"12 usd", {.limit = 12.0, .unit = "usd", .meter = Meter::reported}},
      {"{limit: 12, unit: usd, per_hour: 2.5}",
       {.limit = 12.0, .unit = "usd", .meter = Meter::accrued, .per_hour = 2.5}},
      {"{limit: 3e6, unit: joule}", {.limit = 3e6, .unit = "joule", .meter = Meter::reported}}};
  for (const auto& [text, budget] : cases) EXPECT_EQ(parse({.budget = "budget: " + text}).budget, budget) << text;
}

TEST(SpecFile, ReadsRangesByTheirBounds) {
  EXPECT_EQ(domain("{min: 1e-6, max: 1}"), Domain(RealRange{.low = 1e-6, .high = 1.0}));
  EXPECT_EQ(domain("{min: 1e-6, max: 1, log: true}"), Domain(RealRange{.low = 1e-6, .high = 1.0, .scale = Scale::log}));
  EXPECT_EQ(domain("{min: 0.5, max: 1.5, log: false}"), Domain(RealRange{.low = 0.5, .high = 1.5}));
  EXPECT_EQ(domain("{min: 0.5, max: 0.999, scale: log1m}"),
            Domain(RealRange{.low = 0.5, .high = 0.999, .scale = Scale::log_complement}));
  EXPECT_EQ(domain("{min: 1, max: 64, scale: log}"), Domain(IntRange{.low = 1, .high = 64, .scale = Scale::log}));
  EXPECT_EQ(domain("{min: 1, max: 10}"), Domain(IntRange{.low = 1, .high = 10}));
  EXPECT_EQ(domain("{min: 0, max: 1, type: int}"), Domain(IntRange{.low = 0, .high = 1}));
  EXPECT_EQ(domain("{min: 0, max: 1, type: real}"), Domain(RealRange{.low = 0.0, .high = 1.0}));
  EXPECT_EQ(domain("{min: 1, max: 10, type: float}"), Domain(RealRange{.low = 1.0, .high = 10.0}));
}

TEST(SpecFile, ReadsTheDistributionsOfWandb) {
  EXPECT_EQ(domain("{distribution: uniform, min: 0, max: 1}"), Domain(RealRange{.low = 0.0, .high = 1.0}));
  EXPECT_EQ(domain("{distribution: int_uniform, min: 0, max: 9}"), Domain(IntRange{.low = 0, .high = 9}));
  const RealRange decades = {.low = 1e-5, .high = 0.1, .scale = Scale::log};
  EXPECT_EQ(domain("{distribution: log_uniform_values, min: 1e-5, max: 0.1}"), Domain(decades));
  EXPECT_EQ(domain("{distribution: inv_log_uniform_values, min: 1e-5, max: 0.1}"), Domain(decades));
  EXPECT_EQ(domain("{distribution: log_uniform, min: -9, max: 0}"),
            Domain(RealRange{.low = std::exp(-9.0), .high = 1.0, .scale = Scale::log}));
  EXPECT_EQ(domain("{distribution: inv_log_uniform, min: 0, max: 9}"),
            Domain(RealRange{.low = std::exp(-9.0), .high = 1.0, .scale = Scale::log}));
  EXPECT_EQ(domain("{distribution: constant, value: 7}"), Domain(Constant{7_i}));
  EXPECT_EQ(domain("{distribution: categorical, values: [a, b]}"), Domain(Choice{.options = {"a"s, "b"s}}));
}

TEST(SpecFile, QuantizedDistributionsAreIntegersOrGrids) {
  EXPECT_EQ(domain("{distribution: q_uniform, min: 0.6, max: 9.4}"), Domain(IntRange{.low = 1, .high = 9}));
  EXPECT_EQ(domain("{distribution: q_log_uniform_values, min: 16, max: 256}"),
            Domain(IntRange{.low = 16, .high = 256, .scale = Scale::log}));
  EXPECT_EQ(domain("{distribution: q_log_uniform, min: 0, max: 3}"),
            Domain(IntRange{.low = 1, .high = 20, .scale = Scale::log}));
  EXPECT_EQ(domain("{distribution: q_uniform, q: 8, min: 8, max: 32}"),
            Domain(Choice{.options = {8_i, 16_i, 24_i, 32_i}, .order = Choice::Order::ordered}));
  EXPECT_EQ(domain("{distribution: q_uniform, q: 0.1, min: 0, max: 0.3}"),
            Domain(Choice{.options = {0.0, 0.1, 0.2, 0.3}, .order = Choice::Order::ordered}));
}

TEST(SpecFile, ListedValuesKeepTheirTypes) {
  EXPECT_EQ(domain("{values: [true, 1, 1.0, one, \"1\", '2', \"true\"]}"),
            Domain(Choice{.options = {true, 1_i, 1.0, "one"s, "1"s, "2"s, "true"s}}));
  EXPECT_EQ(domain("{values: [16, 32, 64]}"),
            Domain(Choice{.options = {16_i, 32_i, 64_i}, .order = Choice::Order::ordered}));
  EXPECT_EQ(domain("{values: [64, 16]}"), Domain(Choice{.options = {64_i, 16_i}}));
  EXPECT_EQ(domain("{values: [1e-3, 1e-2]}"), Domain(Choice{.options = {1e-3, 1e-2}, .order = Choice::Order::ordered}));
  EXPECT_EQ(domain("{value: \"3\"}"), Domain(Constant{"3"s}));
  EXPECT_EQ(domain("{value: off}"), Domain(Constant{"off"s}));
}

TEST(SpecFile, ConditionsTakeOneOrSeveralValues) {
  const StudySpec spec = parse({.parameters = R"(parameters:
  lr: {min: 0.0, max: 2.0}
  opt: {values: [sgd, adam, lion]}
  layers: {min: 1, max: 5}
  a: {value: 1, when: {opt: [sgd, lion], layers: 2}}
  b: {value: 1, when: {lr: 1}})"});
  EXPECT_EQ(
      spec.space.params()[3].when,
      (std::vector<Condition>{{.param = "opt", .values = {"sgd"s, "lion"s}}, {.param = "layers", .values = {2_i}}}));
  EXPECT_EQ(spec.space.params()[4].when, (std::vector<Condition>{{.param = "lr", .values = {1.0}}}));
}

TEST(SpecFile, ArgumentsAreTakenAsWritten) {
  EXPECT_EQ(parse({.command = "command: [./train, 3, 1e-6, true, \"a b\", \"\", \"--x=${lr}\"]"}).command,
            (std::vector<std::string>{"./train", "3", "1e-6", "true", "a b", "", "--x=${lr}"}));
}

TEST(SpecFile, BlockListsNeedNoQuotesForMacros) {
  EXPECT_EQ(parse({.command = "command:\n  - ./train\n  - --lr=${lr}\n  - a b"}).command,
            (std::vector<std::string>{"./train", "--lr=${lr}", "a b"}));
}

// ── what is refused ─────────────────────────────────────────────────────────────────────────────────────────────────

TEST(SpecFile, WhatIsNotAMappingIsRefused) {
  EXPECT_EQ(message_of(""),
            "study.yaml:1:1: found nothing, expected a mapping with command, metric, budget, epochs and parameters");
  EXPECT_EQ(message_of("# nothing\n"),
            "study.yaml:1:1: found nothing, expected a mapping with command, metric, budget, epochs and parameters");
  EXPECT_EQ(message_of("- a\n- b\n"),
            "study.yaml:1:1: found a list, expected a mapping with command, metric, budget, epochs and parameters");
  EXPECT_EQ(message_of("hello\n"),
            "study.yaml:1:1: found 'hello', expected a mapping with command, metric, budget, epochs and parameters");
  EXPECT_EQ(message_of(Lines{}.text() + "---\nname: b\n"),
            "study.yaml:6:1: found more after the end of the study, expected nothing");
}

TEST(SpecFile, LockstepIsTheDefaultWhereNothingElseIsUpToChance) {
  EXPECT_FALSE(parse({}).in_lockstep()) << "a budget in time";
  EXPECT_TRUE(parse({.budget = "budget: 500 epochs"}).in_lockstep());
  const StudySpec of_two_workers = parse({.budget = "budget: 500 epochs", .more = "workers: 2"});
  EXPECT_FALSE(of_two_workers.in_lockstep());
  EXPECT_TRUE(of_two_workers.withholds_epochs_ahead()) << "nobody has decided on what is past a segment";
  EXPECT_FALSE(parse({}).withholds_epochs_ahead());
  EXPECT_FALSE(parse({.budget = "budget: 500 epochs", .more = "lockstep: no"}).withholds_epochs_ahead());
  EXPECT_FALSE(parse({.budget = "budget: 500 epochs", .more = "lockstep: no"}).in_lockstep());
  EXPECT_FALSE(parse({.budget = "budget: 12 usd"}).in_lockstep());
  EXPECT_TRUE(parse({.budget = "budget: 12 usd", .more = "lockstep: yes"}).in_lockstep());
}

TEST(SpecFile, LockstepIsRefusedWhereItCannotBeKept) {
  const std::string in_time = message_of(Lines{.more = "lockstep: yes"});
  EXPECT_NE(in_time.find("study.yaml:6:1: lockstep: yes, but the budget is in time"), std::string::npos) << in_time;
  const std::string parallel = message_of(Lines{.budget = "budget: 500 epochs", .more = "lockstep: yes\nworkers: 2"});
  EXPECT_NE(parallel.find("workers is 2"), std::string::npos) << parallel;
}

TEST(SpecFile, BrokenYamlIsRefusedWithItsPlace) {
  EXPECT_EQ(message_of("name: a\nmetric: {name: b\n"), "study.yaml:3:1: not YAML: end of map flow not found");
  EXPECT_EQ(
      message_of("name: a\n\tmetric: b\n"),
      "study.yaml:2:1: not YAML: illegal tab when looking for indentation; YAML allows no tabs at the beginning of a "
      "line: indent with spaces");
  EXPECT_EQ(message_of("name: a\ncommand: [./train, --lr, ${lr}]\n"),
            "study.yaml:2:27: not YAML: end of sequence flow not found; inside [ ] a macro needs quotes: \"${name}\"");
  EXPECT_EQ(message_of("name: *nowhere\n"), "study.yaml:1:7: not YAML: the referenced anchor is not defined");
  EXPECT_EQ(message_of("name: a: b\n"), "study.yaml:1:8: not YAML: illegal map value");
}

TEST(SpecFile, MistakesInTheFields) {
  const std::vector<std::pair<Lines, std::string>> cases = {
      {{.more = "budgets: 3"}, "study.yaml:6:1: unknown key 'budgets'; did you mean 'budget'?"},
      {{.more = "colour: red"},
       "study.yaml:6:1: unknown key 'colour', expected one of name, command, metric, budget, deadline, epochs, "
       "repeat, workers, gpus, seed, policy, try, from, parameters, checkpoint, checkpoints, grace, report_timeout, "
       "max_failures, "
       "env, retries, cwd, hooks, lockstep, lease"},
      {{.more = "method: bayes"},
       "study.yaml:6:1: key 'method' is not one of bapi's; write 'policy', for example policy: hyperband (`bapi "
       "policies` lists them)"},
      {{.more = "program: train.py"},
       "study.yaml:6:1: key 'program' is not one of bapi's; write 'command', for example command: [python3, train.py, "
       "\"${args}\"]"},
      {{.more = "early_terminate: {type: hyperband}"},
       "study.yaml:6:1: key 'early_terminate' is not one of bapi's; the policy decides when a trial ends, for example "
       "policy: hyperband"},
      {{.more = "run_cap: 20"},
       "study.yaml:6:1: key 'run_cap' is not one of bapi's; write 'budget', for example budget: 500 epochs"},
      {{.more = "epochs: 3"}, "study.yaml:6:1: key 'epochs' is given twice, first in line 4"},
      {{.more = "[a]: 3"}, "study.yaml:6:1: found a list or mapping, expected a word as key"},
      {{.command = ""},
       "study.yaml:1:1: found no 'command', expected for example command: [python3, train.py, --lr, \"${lr}\"]"},
      {{.metric = ""},
       "study.yaml:1:1: found no 'metric', expected for example metric: {name: accuracy, goal: maximize}"},
      {{.budget = ""}, "study.yaml:1:1: found no 'budget', expected for example budget: 30m"},
      {{.epochs = ""}, "study.yaml:1:1: found no 'epochs', expected for example epochs: {min: 1, max: 100}"},
      {{.parameters = ""},
       "study.yaml:1:1: found no 'parameters', expected for example parameters: {lr: {min: 1e-6, max: 1, log: true}}"},
      {{.command = "command: python3 train.py --lr ${lr}"},
       "study.yaml:1:10: command: found a string, expected a list with one item per argument, because there is no "
       "shell: [python3, train.py, --lr, \"${lr}\"]"},
      {{.command = "command: {a: b}"},
       "study.yaml:1:10: command: found a mapping, expected a list with one item per argument"},
      {{.command = "command: []"}, "study.yaml:1:10: command: found no program, expected at least its name"},
      {{.command = "command: [./train, ~]"},
       "study.yaml:1:20: command[1]: found nothing, expected an argument; quote it if it is a word that YAML knows"},
      {{.command = "command: [./train, [a]]"}, "study.yaml:1:20: command[1]: found a list, expected an argument"},
      {{.command = "command: [./train, \"${LR}\"]"},
       "study.yaml:1:20: command[1]: unknown macro ${LR}; did you mean ${lr}?"},
      {{.command = "command: [./train, \"${learning_rate}\"]"},
       "study.yaml:1:20: command[1]: unknown macro ${learning_rate}; expected a parameter or one of args, config, "
       "trial, dir, checkpoint, from, until (there is no shell, and no environment)"},
      {{.command = "command: [./train, \"${lr\"]"},
       "study.yaml:1:20: command[1]: '${lr' is not closed, expected ${name}"},
      {{.metric = "metric: accuracy"},
       "study.yaml:2:9: metric: found 'accuracy', expected {name: accuracy, goal: maximize}"},
      {{.metric = "metric: {name: accuracy}"},
       "study.yaml:2:9: metric: found no 'goal', expected for example goal: maximize"},
      {{.metric = "metric: {goal: maximize}"},
       "study.yaml:2:9: metric: found no 'name', expected for example name: accuracy"},
      {{.metric = "metric: {name: accuracy, goal: largest}"},
       "study.yaml:2:32: metric.goal: found 'largest', expected maximize or minimize"},
      {{.metric = "metric: {name: accuracy, gaol: maximize}"},
       "study.yaml:2:26: metric: unknown key 'gaol'; did you mean 'goal'?"},
      {{.budget = "budget: lots"},
       "study.yaml:3:9: budget: found 'lots', expected a budget such as 30m, 2h, '500 epochs' or '12 usd'"},
      {{.budget = "budget: 30 minuts"}, "study.yaml:3:9: budget: unknown unit 'minuts'; did you mean 'minutes'?"},
      {{.budget = "budget: [30m]"},
       "study.yaml:3:9: budget: found a list, expected a budget such as 30m, 2h, '500 epochs' or '12 usd'"},
      {{.budget = "budget: 0"}, "study.yaml:3:1: budget: limit = 0, must be positive and finite"},
      {{.budget = "budget: {unit: usd}"},
       "study.yaml:3:9: budget: found no 'limit', expected for example {limit: 12, unit: usd, per_hour: 2.5}"},
      {{.budget = "budget: {limit: 12, per_hour: 3}"},
       "study.yaml:3:31: budget.per_hour: needs a unit as well, for example unit: usd"},
      {{.budget = "budget: {limit: 12, unit: epochs, per_hour: 3}"},
       "study.yaml:3:45: budget.per_hour: has no meaning in epochs"},
      {{.budget = "budget: {limit: twelve, unit: usd}"},
       "study.yaml:3:17: budget.limit: found 'twelve', expected a number"},
      {{.budget = "budget: {limit: 12, unit: epocs}"},
       "study.yaml:3:27: budget.unit: unknown unit 'epocs'; did you mean 'epochs'?"},
      {{.budget = "budget: {limit: 12, unit: usd, per_hour: -1}"},
       "study.yaml:3:1: budget: per_hour = -1, must be positive and finite"},
      {{.epochs = "epochs: many"}, "study.yaml:4:9: epochs: found 'many', expected an integer or {min: 1, max: 100}"},
      {{.epochs = "epochs: 1.5"}, "study.yaml:4:9: epochs: found '1.5', expected an integer or {min: 1, max: 100}"},
      {{.epochs = "epochs: 0"}, "study.yaml:4:1: epochs: max = 0 is below min = 1"},
      {{.epochs = "epochs: {min: 1}"},
       "study.yaml:4:9: epochs: found no 'max', expected for example {min: 1, max: 100}"},
      {{.epochs = "epochs: {min: 9, max: 3}"}, "study.yaml:4:1: epochs: max = 3 is below min = 9"},
      {{.epochs = "epochs: 99999999999"}, "study.yaml:4:9: epochs: found '99999999999', expected a smaller integer"},
      {{.more = "name: a/b"},
       "study.yaml:6:1: name: invalid name 'a/b': use letters, digits, '-', '_' and '.', beginning with a letter or "
       "digit"},
      {{.more = "name: "}, "study.yaml:6:1: name: found nothing, expected a name"},
      {{.more = "deadline: soon"},
       "study.yaml:6:11: deadline: found 'soon', expected a duration such as 90s, 30m, 2h, 1h30m or seconds"},
      {{.more = "deadline: 0"}, "study.yaml:6:1: deadline: 0 seconds, must be positive"},
      {{.more = "workers: two"}, "study.yaml:6:10: workers: found 'two', expected an integer"},
      {{.more = "workers: \"2\""}, "study.yaml:6:10: workers: found \"2\", expected an integer"},
      {{.more = "workers: 0"}, "study.yaml:6:1: workers: 0, must be at least 1"},
      {{.more = "seed: -1"}, "study.yaml:6:7: seed: found '-1', expected an integer from 0 to 2^64 - 1"},
      {{.more = "seed: 1.5"}, "study.yaml:6:7: seed: found '1.5', expected an integer from 0 to 2^64 - 1"},
      {{.more = "policy: 3"},
       "study.yaml:6:9: policy: found '3', expected a name such as hyperband, or {name: hyperband, eta: 3}"},
      {{.more = "policy: {eta: 3}"},
       "study.yaml:6:9: policy: found no 'name', expected for example {name: hyperband, eta: 3}"},
      {{.more = "policy: {name: hyperband, eta: [3]}"},
       "study.yaml:6:32: policy.eta: found a list, expected a number, a word, true or false"},
      {{.more = "checkpoint: never"}, "study.yaml:6:13: checkpoint: found 'never', expected kept or none"},
      {{.more = "checkpoint: ~"}, "study.yaml:6:1: checkpoint: found nothing, expected kept or none"},
      {{.more = "checkpoints: {keep: best 0}"},
       "study.yaml:6:21: checkpoints.keep: found 'best 0', expected all, or best 3 for the three best trials"},
      {{.more = "lease: 1s"}, "study.yaml:6:1: lease: 1 s, expected 5 s to 3600 s"},
      {{.more = "lease: 30s\ngrace: 11s"},
       "study.yaml:6:1: lease: 30 s, but grace is 11 s, within which programs have to end before their worker's lease "
       "does; "
       "expected at least 3 times as much"},
      {{.more = "grace: -1"},
       "study.yaml:6:8: grace: found '-1', expected a duration such as 90s, 30m, 2h, 1h30m or seconds"},
      {{.more = "report_timeout: 0"}, "study.yaml:6:1: report_timeout: 0 seconds, must be positive"},
      {{.more = "max_failures: 0"}, "study.yaml:6:1: max_failures: 0, must be at least 1"},
      {{.more = "env: [A]"}, "study.yaml:6:6: env: found a list, expected a mapping such as {OMP_NUM_THREADS: 1}"},
      {{.more = "env: {BAPI_SEED: 3}"}, "study.yaml:6:7: env: BAPI_SEED is set by bapi itself"},
      {{.more = "env: {A: [1]}"}, "study.yaml:6:10: env.A: found a list, expected a string"},
      {{.more = "env: {\"A=B\": 1}"}, "study.yaml:6:7: env: expected a name without '='"},
  };
  for (const auto& [lines, message] : cases) EXPECT_EQ(message_of(lines), message);
}

TEST(SpecFile, MistakesInAParameter) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"3", "study.yaml:6:6: parameters.x: found '3', expected {min: 0.1, max: 1.0}, {values: [a, b]} or {value: 3}"},
      {"[a, b]",
       "study.yaml:6:6: parameters.x: found a list, expected {values: [...]} to choose among the values of a list, or "
       "{min: ..., max: ...} for a range"},
      {"",
       "study.yaml:6:3: parameters.x: found nothing, expected {min: 0.1, max: 1.0}, {values: [a, b]} or {value: 3}"},
      {"{}",
       "study.yaml:6:6: parameters.x: found no 'min', expected for example {min: 0.1, max: 1.0}, {values: [a, b]} or "
       "{value: 3}"},
      {"{min: 1}",
       "study.yaml:6:6: parameters.x: found no 'max', expected for example {min: 0.1, max: 1.0}, {values: [a, b]} or "
       "{value: 3}"},
      {"{max: 1}",
       "study.yaml:6:6: parameters.x: found no 'min', expected for example {min: 0.1, max: 1.0}, {values: [a, b]} or "
       "{value: 3}"},
      {"{minimum: 1, max: 3}", "study.yaml:6:7: parameters.x: key 'minimum' is not one of bapi's; write 'min'"},
      {"{min: 1, max: 3, colour: red}",
       "study.yaml:6:23: parameters.x: unknown key 'colour', expected one of value, values, min, max, distribution, "
       "log, scale, type, q, when"},
      {"{min: one, max: 3}", "study.yaml:6:12: parameters.x.min: found 'one', expected a number"},
      {"{min: 3.0, max: 1.0}", "study.yaml:6:3: parameters.x: min = 3 is not below max = 1"},
      {"{min: 5, max: 3}", "study.yaml:6:3: parameters.x: min = 5 is above max = 3"},
      {"{min: 0.0, max: 1.0, log: true}", "study.yaml:6:3: parameters.x: min = 0 with a log scale, must be positive"},
      {"{min: 0.5, max: 1.0, scale: log1m}",
       "study.yaml:6:3: parameters.x: max = 1 with a log1m scale, must be below 1"},
      {"{min: 0.1, max: .inf}", "study.yaml:6:3: parameters.x: min = 0.1, max = inf; both must be finite"},
      {"{min: 0, max: 1}",
       "study.yaml:6:6: parameters.x: found {min: 0, max: 1}, which may be integers or real numbers; expected 'type: "
       "int' or 'type: real' as well"},
      {"{min: 0.1, max: 1.0, log: yes}", "study.yaml:6:32: parameters.x.log: found 'yes', expected true or false"},
      {"{min: 0.1, max: 1.0, log: true, scale: log}",
       "study.yaml:6:32: parameters.x.log: has no meaning together with 'scale'"},
      {"{min: 0.1, max: 1.0, scale: loq}",
       "study.yaml:6:34: parameters.x.scale: found 'loq', expected linear, log or log1m"},
      {"{min: 1, max: 10, scale: log1m}",
       "study.yaml:6:31: parameters.x.scale: found 'log1m', expected linear or log for an integer; or 'type: real'"},
      {"{min: 0.1, max: 5, type: int}", "study.yaml:6:12: parameters.x.min: found '0.1', expected an integer"},
      {"{min: 1, max: 5, type: bool}",
       "study.yaml:6:29: parameters.x.type: found 'bool', expected int, integer, real or float"},
      {"{min: 1, max: 5, q: 2}",
       "study.yaml:6:26: parameters.x.q: needs a distribution as well, for example distribution: q_uniform"},
      {"{value: 3, min: 1}", "study.yaml:6:22: parameters.x.min: has no meaning together with 'value'"},
      {"{value: [3]}", "study.yaml:6:14: parameters.x.value: found a list, expected a number, a word, true or false"},
      {"{value: }", "study.yaml:6:7: parameters.x.value: found nothing, expected a number, a word, true or false"},
      {"{value: .nan}", "study.yaml:6:14: parameters.x.value: found '.nan', expected a finite number"},
      {"{value: 3, distribution: uniform}",
       "study.yaml:6:31: parameters.x.distribution: found 'uniform', expected constant"},
      {"{values: 3}", "study.yaml:6:15: parameters.x.values: found '3', expected a list"},
      {"{values: []}", "study.yaml:6:3: parameters.x: values is an empty list"},
      {"{values: [a, a]}", "study.yaml:6:3: parameters.x: value a is listed twice"},
      {"{values: [a, ~]}",
       "study.yaml:6:19: parameters.x.values[1]: found nothing, expected a number, a word, true or false"},
      {"{values: [a, [b]]}",
       "study.yaml:6:19: parameters.x.values[1]: found a list, expected a number, a word, true or false"},
      {"{values: [a, b], log: true}", "study.yaml:6:28: parameters.x.log: has no meaning together with 'values'"},
      {"{values: [a, b], probabilities: [0.5, 0.5]}",
       "study.yaml:6:23: parameters.x: key 'probabilities' is not one of bapi's; every value is equally likely at "
       "first"},
      {"{min: 1, max: 5, distribution: constant}",
       "study.yaml:6:37: parameters.x.distribution: found 'constant' without 'value'"},
      {"{min: 1, max: 5, distribution: log_unifrom}",
       "study.yaml:6:37: parameters.x.distribution: found 'log_unifrom', expected log_uniform"},
      {"{min: 1, max: 5, distribution: pareto}",
       "study.yaml:6:37: parameters.x.distribution: found 'pareto', expected one of constant, categorical, uniform, "
       "int_uniform, q_uniform, log_uniform_values, log_uniform, q_log_uniform_values, q_log_uniform, "
       "inv_log_uniform_values, inv_log_uniform"},
      {"{min: 1, max: 5, distribution: log_normal}",
       "study.yaml:6:37: parameters.x.distribution: found 'log_normal', but bapi searches between bounds; expected min "
       "and max with uniform or log_uniform_values"},
      {"{distribution: normal, mu: 0, sigma: 1}",
       "study.yaml:6:29: parameters.x: key 'mu' is not one of bapi's; bapi searches between bounds: give min and max\n"
       "study.yaml:6:36: parameters.x: key 'sigma' is not one of bapi's; bapi searches between bounds: give min and "
       "max"},
      {"{min: 1, max: 5, distribution: uniform, log: true}",
       "study.yaml:6:51: parameters.x.log: has no meaning together with 'distribution'"},
      {"{min: 1, max: 5, distribution: uniform, q: 2}",
       "study.yaml:6:49: parameters.x.q: has no meaning together with 'uniform'"},
      {"{min: 1.5, max: 5, distribution: int_uniform}",
       "study.yaml:6:12: parameters.x.min: found '1.5', expected an integer"},
      {"{min: 5, max: 1, distribution: q_uniform}", "study.yaml:6:6: parameters.x: min = 5 is above max = 1"},
      {"{min: 1, max: 99, distribution: q_log_uniform}",
       "study.yaml:6:20: parameters.x.max: found '99', expected bounds within 64 bits"},
      {"{min: 1, max: 5, distribution: q_uniform, q: .inf}",
       "study.yaml:6:51: parameters.x.q: found '.inf', expected a positive number"},
      {"{min: 1, max: 5, distribution: q_uniform, q: 0}",
       "study.yaml:6:51: parameters.x.q: found '0', expected a positive number"},
      {"{min: 1, max: 5, distribution: q_uniform, q: 1e-6}",
       "study.yaml:6:51: parameters.x.q: found '1e-6', expected at most 1000 steps between min and max"},
      {"{min: 1, max: 5, distribution: q_log_uniform_values, q: 2}",
       "study.yaml:6:62: parameters.x.q: found '2', expected 1 with a log scale; leave q out or list the values"},
      {"{min: 0.1, max: 5, distribution: q_log_uniform_values}",
       "study.yaml:6:3: parameters.x: min = 0 with a log scale, must be positive"},
      {"{parameters: {y: {value: 1}}}",
       "study.yaml:6:7: parameters.x: key 'parameters' is not one of bapi's; parameters are not nested; a name may "
       "contain dots, and 'when' makes one conditional"},
      {"{value: 1, when: x}",
       "study.yaml:6:23: parameters.x.when: found 'x', expected a mapping such as {optimizer: sgd}"},
      {"{value: 1, when: {y: 1}}", "study.yaml:6:24: parameters.x.when.y: there is no such parameter"},
      {"{value: 1, when: {x: 1}}", "study.yaml:6:3: parameters.x: its conditions form a circle"},
      {"{value: 1, when: {y: []}}", "study.yaml:6:27: parameters.x.when.y: found a list, expected at least one value"},
      {"{value: 1, when: {y: ~}}",
       "study.yaml:6:24: parameters.x.when.y: found nothing, expected a number, a word, true or false"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(param_message(text), message);
}

TEST(SpecFile, MistakesAmongParameters) {
  EXPECT_EQ(message_of(Lines{.parameters = "parameters: {}"}),
            "study.yaml:5:13: parameters: found none, expected at least one parameter");
  EXPECT_EQ(
      message_of(Lines{.parameters = "parameters: [lr]"}),
      "study.yaml:5:13: parameters: found a list, expected a mapping such as {lr: {min: 1e-6, max: 1, log: true}}");
  EXPECT_EQ(message_of(Lines{.parameters = "parameters:\n  lr: {value: 1}\n  lr: {value: 2}"}),
            "study.yaml:7:3: parameters: key 'lr' is given twice, first in line 6");
  EXPECT_EQ(message_of(Lines{.parameters = "parameters:\n  lr: {value: 1}\n  dir: {value: 2}"}),
            "study.yaml:7:3: parameters: the name 'dir' is taken by the macro ${dir}");
  EXPECT_EQ(
      message_of(Lines{.parameters = "parameters:\n  lr: {value: 1}\n  a b: {value: 2}"}),
      "study.yaml:7:3: parameters: invalid name 'a b': use letters, digits, '-', '_' and '.', beginning with a letter");
  EXPECT_EQ(message_of(Lines{.parameters = "parameters:\n  lr: {values: [1, 2]}\n  b: {value: 2, when: {lt: 1}}"}),
            "study.yaml:7:24: parameters.b.when.lt: there is no such parameter; did you mean 'lr'?");
  EXPECT_EQ(message_of(Lines{.parameters = "parameters:\n  lr: {values: [1, 2]}\n  b: {value: 2, when: {lr: 3}}"}),
            "study.yaml:7:24: parameters.b.when.lr: 3 is not a value that lr can have");
}

TEST(SpecFile, AllMistakesAreToldAtOnceInTheOrderOfTheText) {
  EXPECT_EQ(message_of("comand: [./train]\n"
                       "metric: {name: epoch, goal: up}\n"
                       "budget: 40 trials\n"
                       "epochs: many\n"
                       "parameters:\n"
                       "  lr: {low: 1e-5, high: 1, log: true}\n"
                       "  units: {min: 64, max: 16}\n"
                       "  depth: {min: 1, max: 8}\n"
                       "work: 2\n"),
            "study.yaml:1:1: unknown key 'comand'; did you mean 'command'?\n"
            "study.yaml:2:16: metric.name: the name 'epoch' has a meaning of its own in every report; expected another "
            "name\n"
            "study.yaml:2:29: metric.goal: found 'up', expected maximize or minimize\n"
            "study.yaml:3:9: budget: found 40 trials, but trials differ in length and most are stopped early; expected "
            "time, epochs or money: 30m, '500 epochs' or '12 usd'. N full trainings cost N times epochs.max epochs\n"
            "study.yaml:4:9: epochs: found 'many', expected an integer or {min: 1, max: 100}\n"
            "study.yaml:6:8: parameters.lr: key 'low' is not one of bapi's; write 'min'\n"
            "study.yaml:6:19: parameters.lr: key 'high' is not one of bapi's; write 'max'\n"
            "study.yaml:7:3: parameters.units: min = 64 is above max = 16\n"
            "study.yaml:9:1: unknown key 'work'; did you mean 'workers'?");
}

TEST(SpecFile, ValuesOutOfRangeAreToldTogetherWithWhatCannotBeRead) {
  EXPECT_EQ(message_of(Lines{.budget = "budget: x", .epochs = "epochs: {min: 9, max: 3}", .more = "lockstep: yes"}),
            "study.yaml:3:9: budget: found 'x', expected a budget such as 30m, 2h, '500 epochs' or '12 usd'\n"
            "study.yaml:4:1: epochs: max = 3 is below min = 9");
  const std::string named = message_of(Lines{.metric = "metric: loss", .more = "name: größe"});
  EXPECT_NE(named.find("metric:"), std::string::npos) << named;
  EXPECT_NE(named.find("study.yaml:6:1: name: invalid name 'größe'"), std::string::npos) << named;
}

// One of the fields of every rule about several is wrong; nothing is said of the rule.
TEST(SpecFile, ARuleAboutSeveralFieldsNeedsThemAll) {
  const std::string budget = "budget: 100 epochs";
  const std::string smooth = "metric: {name: loss, goal: minimize, smooth: 200}";
  const std::vector<std::pair<Lines, std::string>> cases = {
      {{.metric = smooth, .epochs = "epochs: {max: abc}"}, "study.yaml:4:15: epochs.max: "},
      {{.budget = budget, .epochs = "epochs: {max: abc}", .more = "repeat: 99"}, "study.yaml:4:15: epochs.max: "},
      {{.budget = "budget: x", .more = "repeat: 99\nlockstep: yes"}, "study.yaml:3:9: budget: "},
      {{.budget = budget, .more = "lockstep: yes\nworkers: two"}, "study.yaml:7:10: workers: "},
      {{.more = "workers: two\ngpus: [0]"}, "study.yaml:6:10: workers: "},
      {{.more = "workers: 2\ngpus: [0, {}]"}, "study.yaml:7:"},
      {{.more = "gpus: [0, {}]\nenv: {CUDA_VISIBLE_DEVICES: 1}"}, "study.yaml:6:"}};
  for (const auto& [lines, beginning] : cases) {
    const std::string message = message_of(lines);
    EXPECT_TRUE(message.starts_with(beginning)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(SpecFile, ARuleAboutSeveralFieldsIsAskedWhateverElseIsWrong) {
  EXPECT_EQ(
      message_of(Lines{.more = "lockstep: yes\nseed: x"}),
      "study.yaml:6:1: lockstep: yes, but the budget is in time, which never comes out the same twice; expected a "
      "budget in epochs or in a unit that the program reports. Change the budget, or leave lockstep out\n"
      "study.yaml:7:7: seed: found 'x', expected an integer from 0 to 2^64 - 1");
}

TEST(SpecFile, WhatIsMissingIsToldLast) {
  EXPECT_EQ(message_of("metric: {name: accuracy, goal: maximize}\nbudget: x\nparameters: {lr: {value: 1}}\n"),
            "study.yaml:2:9: budget: found 'x', expected a budget such as 30m, 2h, '500 epochs' or '12 usd'\n"
            "study.yaml:1:1: found no 'command', expected for example command: [python3, train.py, --lr, \"${lr}\"]\n"
            "study.yaml:1:1: found no 'epochs', expected for example epochs: {min: 1, max: 100}");
}

TEST(SpecFile, ValuesOutOfRangeAreToldTogether) {
  EXPECT_EQ(message_of(Lines{.epochs = "epochs: {min: 9, max: 3}", .more = "workers: 0\nmax_failures: -1"}),
            "study.yaml:4:1: epochs: max = 3 is below min = 9\n"
            "study.yaml:6:1: workers: 0, must be at least 1\n"
            "study.yaml:7:1: max_failures: -1, must be at least 1");
}

TEST(SpecFile, MergeKeysAddWhatIsNotGiven) {
  const StudySpec spec = parse_study_file(R"(
x-rate: &rate {min: 1e-5, max: 1, log: true}
x-bounds: &bounds {max: 8, type: int}
command: [./train]
metric: {name: accuracy, goal: maximize}
budget: 30m
epochs: 9
parameters:
  lr: *rate
  decay: {<<: *rate, max: 0.1}
  depth: {<<: [*bounds, *rate], min: 2, log: false}
)",
                                          "study.yaml");
  const std::vector<Param>& params = spec.space.params();
  EXPECT_EQ(params[0].domain, Domain(RealRange{.low = 1e-5, .high = 1.0, .scale = Scale::log}));
  EXPECT_EQ(params[1].domain, Domain(RealRange{.low = 1e-5, .high = 0.1, .scale = Scale::log}));
  EXPECT_EQ(params[2].domain, Domain(IntRange{.low = 2, .high = 8}));
  EXPECT_EQ(param_message("{<<: 3}"),
            "study.yaml:6:7: parameters.x: found '<<' without a mapping, expected for example <<: *common");
  EXPECT_EQ(message_of("x-a: &a {<<: *a}\n"), message_of("{}\n")) << "what is never read may be odd";
  EXPECT_NE(param_message("&x {min: 0.1, max: 1.0, <<: *x}"), "");
}

TEST(SpecFile, KeysWithAnXAreTheUsersOwn) {
  EXPECT_EQ(message_of(Lines{.more = "x-notes: [anything, {at: all}]"}), "no error");
  EXPECT_EQ(message_of(Lines{.more = "y-notes: 3"}).substr(0, 38), "study.yaml:6:1: unknown key 'y-notes',");
}

TEST(SpecFile, AGivenNameTakesThePlaceOfTheFiles) {
  const std::string text = Lines{.more = "name: mlp"}.text();
  EXPECT_EQ(parse_study_file(text, "study.yaml").name, "mlp");
  EXPECT_EQ(parse_study_file(text, "study.yaml", "other").name, "other");
  EXPECT_THROW(parse_study_file(Lines{}.text(), "my study.yaml"), InvalidInput);
  EXPECT_EQ(parse_study_file(Lines{}.text(), "my study.yaml", "other").name, "other");
}

TEST(SpecFile, WordsOfOtherToolsGetTheRightHint) {
  for (const auto& [key, hint] : std::vector<std::pair<std::string, std::string>>{{"low", "write 'min'"},
                                                                                  {"high", "write 'max'"},
                                                                                  {"choices", "write 'values'"},
                                                                                  {"integer", "write type: int"}}) {
    EXPECT_NE(param_message("{" + key + ": 1}").find("key '" + key + "' is not one of bapi's; " + hint),
              std::string::npos)
        << key;
  }
  for (const auto& [key, hint] : std::vector<std::pair<std::string, std::string>>{{"method: bayes", "write 'policy'"},
                                                                                  {"max_epochs: 50", "write 'epochs'"},
                                                                                  {"timeout: 600", "write 'budget'"},
                                                                                  {"params: {}", "write 'parameters'"},
                                                                                  {"n_jobs: 2", "write 'workers'"}}) {
    EXPECT_NE(message_of(Lines{.more = key}).find(hint), std::string::npos) << key;
  }
  EXPECT_EQ(message_of(Lines{.metric = "metric: {name: loss, direction: minimize}"}),
            "study.yaml:2:22: metric: key 'direction' is not one of bapi's; write 'goal', for example goal: minimize");
  EXPECT_NE(message_of(Lines{.command = "command: [\"${env}\", \"${interpreter}\", \"${program}\"]"})
                .find("${env} is a macro of W&B; leave it out and name the interpreter"),
            std::string::npos);
}

TEST(SpecFile, GoalsMayBeShort) {
  EXPECT_EQ(parse_study_file(Lines{.metric = "metric: {name: loss, goal: min}"}.text(), "s.yaml").metric.goal,
            Goal::minimize);
  EXPECT_EQ(parse_study_file(Lines{.metric = "metric: {name: loss, goal: max}"}.text(), "s.yaml").metric.goal,
            Goal::maximize);
  EXPECT_EQ(parse_study_file(Lines{.metric = "metric: {name: loss, goal: minimise}"}.text(), "s.yaml").metric.goal,
            Goal::minimize);
  EXPECT_EQ(message_of(Lines{.metric = "metric: {name: loss, goal: least}"}),
            "study.yaml:2:28: metric.goal: found 'least', expected maximize or minimize");
}

TEST(SpecFile, AllMistakesOfAMappingAreToldAtOnce) {
  EXPECT_EQ(message_of(Lines{.metric = "metric: {name: epoch, direction: minimize, smooth: few}"}),
            "study.yaml:2:16: metric.name: the name 'epoch' has a meaning of its own in every report; expected another "
            "name\n"
            "study.yaml:2:23: metric: key 'direction' is not one of bapi's; write 'goal', for example goal: minimize\n"
            "study.yaml:2:52: metric.smooth: found 'few', expected an integer");
}

TEST(SpecFile, ControlCharactersAreRefusedWhereProgramsOrTerminalsWouldTripOverThem) {
  EXPECT_EQ(param_message("{values: [\"a\\0b\", a]}"),
            "study.yaml:6:16: parameters.x.values[0]: found the control character \\x00 in 'a\\x00b', expected text");
  EXPECT_EQ(message_of(Lines{.command = "command: [./train, \"\\e[2J\"]"}),
            "study.yaml:1:20: command[1]: found the control character \\x1b in '\\x1b[2J', expected text");
  EXPECT_EQ(message_of(Lines{.more = "env: {A: \"b\\0\"}"}),
            "study.yaml:6:10: env.A: found the control character \\x00 in 'b\\x00', expected text");
  EXPECT_EQ(message_of(Lines{.more = "env: {\"A\\0\": b}"}),
            "study.yaml:6:7: env: found the control character \\x00 in 'A\\x00', expected text");
  EXPECT_EQ(message_of(Lines{.metric = "metric: {name: \"a\\nb\", goal: maximize}"}),
            "study.yaml:2:16: metric.name: found the control character \\n in 'a\\nb', expected text");
  EXPECT_EQ(message_of(Lines{.command = "command: [bash, -c, \"a\\nb\\tc\"]"}), "no error");
}

TEST(SpecFile, KeysOfEveryReportAreNoMetrics) {
  for (const std::string name : {"epoch", "cost", "ready"}) {
    EXPECT_EQ(message_of(Lines{.metric = "metric: {name: " + name + ", goal: maximize}"}),
              "study.yaml:2:16: metric.name: the name '" + name +
                  "' has a meaning of its own in every report; expected another name");
  }
}

TEST(SpecFile, BudgetsThatBuyNothingAreRefused) {
  EXPECT_EQ(message_of(Lines{.budget = "budget: 0.5 epochs"}),
            "study.yaml:3:9: budget: found 0.5 epochs, expected at least 1");
  EXPECT_EQ(message_of(Lines{.budget = "budget: 1e-300s"}),
            "study.yaml:3:9: budget: found 1e-300 seconds, expected at least a millisecond");
}

TEST(SpecFile, NamesFitADirectory) {
  EXPECT_EQ(message_of(Lines{.more = "name: " + std::string(250, 'a')}), "no error");
  EXPECT_EQ(message_of(Lines{.more = "name: " + std::string(300, 'a')}),
            "study.yaml:6:1: name: found 300 characters, expected at most 250: the name becomes a directory");
}

// Seconds, not minutes: nothing may compare every entry with every other.
TEST(SpecFile, LongListsAndManyParametersAreRead) {
  constexpr int kEntries = 20000;
  std::string values;
  std::string parameters;
  for (int i = 0; i < kEntries; ++i) {
    values += fmt::format("{}v{}", i == 0 ? "" : ", ", i);
    parameters += fmt::format("\n  p{}: {{value: 1}}", i);
  }
  const Domain many = domain("{values: [" + values + "]}");
  EXPECT_EQ(std::get<Choice>(many).options.size(), std::size_t{kEntries});
  EXPECT_EQ(parse({.command = "command: [./train]", .parameters = "parameters:" + parameters}).space.params().size(),
            std::size_t{kEntries});
}

TEST(SpaceAndMetric, IsReadFromTheHeaderOfATable) {
  const SpaceAndMetric read =
      parse_space_and_metric("metric: {name: loss, goal: minimize}\nparameters: {lr: {min: 0.1, max: 1.0}}\n", "a.csv");
  EXPECT_EQ(read.name, "a");
  EXPECT_EQ(read.metric, (Metric{.name = "loss", .goal = Goal::minimize}));
  EXPECT_EQ(read.space.params().at(0).name, "lr");
  EXPECT_THROW(parse_space_and_metric("metric: {name: loss, goal: minimize}\nbudget: 3s\n", "a.csv"), InvalidInput);
}

TEST(SpecFile, EarlierStudiesAreSeenFromTheFile) {
  const auto from = [](const std::string& text, const std::string& file) {
    return parse_study_file(Lines{.more = "from: " + text}.text(), file).from;
  };
  EXPECT_EQ(from("[old.bapi, ../older]", "/home/a/study.yaml"),
            (std::vector<WarmStart>{{.study = "/home/a/old.bapi"}, {.study = "/home/older"}}));
  EXPECT_EQ(from("/b/old.bapi", "/home/a/study.yaml"), (std::vector<WarmStart>{{.study = "/b/old.bapi"}}));
  EXPECT_EQ(from("[{study: old.bapi, metric: error}]", "/home/a/study.yaml"),
            (std::vector<WarmStart>{{.study = "/home/a/old.bapi", .metric = "error"}}));
  EXPECT_THROW(from("[3, {metric: error}]", "/home/a/study.yaml"), InvalidInput);
  EXPECT_THROW(from("[[old.bapi]]", "/home/a/study.yaml"), InvalidInput);
}

TEST(FunctionStudy, FieldsAreReadAsInAFileAndOthersStay) {
  StudySpec spec{.name = "mlp", .workers = 3};
  read_function_study(R"({"metric": {"name": "loss", "goal": "minimize"}, "budget": 90, "grace": "1m", "seed": 7})",
                      spec);
  StudySpec expected{.name = "mlp", .workers = 3};
  expected.metric = {.name = "loss", .goal = Goal::minimize};
  expected.budget = {.limit = 90.0};
  expected.grace = 60.0;
  expected.seed = 7;
  EXPECT_EQ(spec, expected);
}

TEST(FunctionStudy, MessagesHaveNoPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"workers": "two"})", "workers: found \"two\", expected an integer"},
      {R"({"metric": {"name": "loss", "goal": "win"}})", "metric.goal: found \"win\", expected maximize or minimize"},
      {R"({"grace": -1})", "grace: found '-1', expected a duration such as 90s, 30m, 2h, 1h30m or seconds"},
      {R"({"worker": 1})", "unknown key 'worker'; did you mean 'workers'?"}};
  for (const auto& [text, message] : cases) {
    StudySpec spec;
    try {
      read_function_study(text, spec);
      ADD_FAILURE() << text;
    } catch (const InvalidInput& error) {
      EXPECT_EQ(std::string(error.what()), message);
    }
  }
}

TEST(FunctionStudy, FieldsOfTrainingProgramsAreUnknown) {
  for (const std::string key : {"command", "env", "report_timeout"}) {
    StudySpec spec;
    EXPECT_THROW(read_function_study("{" + key + ": 1}", spec), InvalidInput) << key;
  }
}

TEST(SpecFile, AnyDamageToTheTextIsASpecOrInvalidInput) {
  const std::string original = Lines{.more = "policy: {name: hyperband, eta: 3}\nenv: {A: 1}\nseed: 7"}.text();
  const std::string characters = "{}[]:,-?&*!|>'\"%@`#~ \n\t0a$.";
  Rng rng(1);
  int refused = 0;
  constexpr int kTexts = 2000;
  for (int i = 0; i < kTexts; ++i) {
    std::string text = original;
    for (int edits = 1 + rng.below(3); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(rng.below(static_cast<int>(text.size())));
      const char character = characters[static_cast<std::size_t>(rng.below(static_cast<int>(characters.size())))];
      text.replace(at, static_cast<std::size_t>(rng.below(3)), 1, character);
    }
    try {
      parse_study_file(text, "study.yaml");
    } catch (const InvalidInput& error) {
      ++refused;
      EXPECT_TRUE(std::string(error.what()).starts_with("study.yaml:")) << error.what();
    }
  }
  EXPECT_GT(refused, kTexts / 2);
}

// ── the documentation ───────────────────────────────────────────────────────────────────────────────────────────────

// The text between ```LANGUAGE and ``` from `at` on; `at` moves behind it. Empty if there is no further block.
std::string next_block(const std::string& document, const std::string& language, std::size_t& at) {
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = document.find(fence, at);
  if (begin == std::string::npos) return "";
  const std::size_t end = document.find("```\n", begin + fence.size());
  at = end + 4;
  return document.substr(begin + fence.size(), end - begin - fence.size());
}

std::string study_file_page() {
  std::ifstream file(BAPI_SOURCE_DIR "/docs/study-file.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Keys {
  std::vector<std::string> list = {};

  template <typename T>
  void operator()(const Field& field, const T&) {
    if (!field.key.empty()) list.emplace_back(field.key);
  }
};

TEST(SpecFile, TheDocumentationHasARowForEveryField) {
  const std::string document = study_file_page();
  Keys keys;
  const StudySpec spec;
  fields(keys, spec);
  EXPECT_GT(keys.list.size(), 10u);
  for (const std::string& key : keys.list) EXPECT_NE(document.find("\n| `" + key + "` |"), std::string::npos) << key;
}

// A yaml block with a text block right behind it gives this message; one without is a valid file.
TEST(SpecFile, ExamplesOfTheDocumentationAreTrue) {
  const std::string document = study_file_page();
  int valid = 0;
  int refused = 0;
  std::size_t at = 0;
  for (std::string example = next_block(document, "yaml", at); !example.empty();
       example = next_block(document, "yaml", at)) {
    if (document.compare(at, 8, "```text\n") == 0) {
      // The examples are parts of files: what else is missing in them is told after it.
      const std::string told = next_block(document, "text", at);
      EXPECT_TRUE((message_of(example) + "\n").starts_with(told)) << message_of(example) << "\n" << told;
      ++refused;
    } else {
      EXPECT_EQ(message_of(example), "no error");
      ++valid;
    }
  }
  EXPECT_GE(valid, 2);
  EXPECT_GE(refused, 10);
}

}  // namespace spec_file_test
}  // namespace bapi
