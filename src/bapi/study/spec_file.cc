#include "bapi/study/spec_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/study/macros.h"
#include "bapi/study/names.h"
#include "bapi/study/parameters_file.h"
#include "bapi/study/yaml_fields.h"

namespace bapi {
namespace {

constexpr const char* kStudy = "a mapping with command, metric, budget, epochs and parameters";
constexpr const char* kSpaceAndMetric = "a mapping with metric and parameters";

// The same words as a YAML list; a macro needs quotes there, because { begins a mapping.
std::string as_list(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> items;
  for (std::string word; words >> word;) {
    const bool plain = word.find_first_of("{}[],:#&*!|>'\"%@`") == std::string::npos;
    items.push_back(plain ? word : fmt::format("\"{}\"", word));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::vector<std::string> read_command(const YamlField& field, const std::vector<Param>& params) {
  if (field.is_scalar()) {
    field.fail(fmt::format("found a string, expected a list with one item per argument, because there is no shell: {}",
                           as_list(field.text("a list"))));
  }
  std::vector<std::string> command;
  for (const YamlField& item : field.items("a list with one item per argument")) {
    if (item.is_null()) item.expected("an argument; quote it if it is a word that YAML knows");
    command.push_back(item.text("an argument"));
    if (const auto mistake = text_mistake(command.back())) item.fail(*mistake);
    if (const auto mistake = macro_mistake(command.back(), params)) item.fail(*mistake);
  }
  if (command.empty() || command.front().empty()) field.fail("found no program, expected at least its name");
  return command;
}

Metric read_metric(const YamlField& field) {
  const YamlMapping metric(field, "{name: accuracy, goal: maximize}", {"name", "goal"});
  static const std::array kGoals = {Goal::maximize, Goal::minimize};
  const YamlField& name = metric.required("name", "name: accuracy");
  const std::string text = name.string("the name of a metric");
  if (const auto mistake = metric_name_mistake(text)) name.fail(*mistake);
  return {.name = text, .goal = kGoals[metric.required("goal", "goal: maximize").one_of({"maximize", "minimize"})]};
}

BudgetSpec read_budget(const YamlField& field) {
  if (!field.is_mapping())
    return parse_budget(field.text("a budget such as 30m, 2h, '500 epochs' or '12 usd'"), field.where());
  const YamlMapping budget(field, "a mapping", {"limit", "unit", "per_hour"});
  const YamlField& limit = budget.required("limit", "{limit: 12, unit: usd, per_hour: 2.5}");
  if (!budget.has("unit")) {
    if (budget.has("per_hour")) budget["per_hour"].fail("needs a unit beside it, for example unit: usd");
    return parse_budget(limit.text("a budget such as 30m"), limit.where());
  }
  BudgetSpec spec = budget_of(limit.number(), budget["unit"].string("a unit such as usd"), budget["unit"].where());
  if (budget.has("per_hour")) {
    if (spec.meter != Meter::reported) budget["per_hour"].fail(fmt::format("has no meaning in {}", spec.unit));
    spec.meter = Meter::seconds;
    spec.per_hour = budget["per_hour"].number();
  }
  return spec;
}

EpochRange read_epochs(const YamlField& field) {
  if (!field.is_mapping()) {
    if (!std::holds_alternative<std::int64_t>(field.value())) field.expected("an integer or {min: 1, max: 100}");
    return {.max = field.small_integer()};
  }
  const YamlMapping epochs(field, "a mapping", {"min", "max"});
  EpochRange range{.max = epochs.required("max", "{min: 1, max: 100}").small_integer()};
  if (epochs.has("min")) range.min = epochs["min"].small_integer();
  return range;
}

PolicySpec read_policy(const YamlField& field) {
  if (!field.is_mapping()) return {.name = field.string("a name such as hyperband, or {name: hyperband, eta: 3}")};
  const YamlMapping policy(field, "a mapping");
  PolicySpec spec{.name = policy.required("name", "{name: hyperband, eta: 3}").string("the name of a policy")};
  for (const auto& [key, place] : policy.keys()) {
    if (key != "name") spec.options[key] = read_yaml_value(policy[key]);
  }
  return spec;
}

std::uint64_t read_seed(const YamlField& field) {
  const std::string text = field.text("an integer from 0");
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) field.expected("an integer from 0 to 2^64 - 1");
  return seed;
}

std::map<std::string, std::string> read_env(const YamlField& field) {
  std::map<std::string, std::string> variables;
  const YamlMapping env(field, "a mapping such as {OMP_NUM_THREADS: 1}");
  for (const auto& [name, place] : env.keys()) {
    if (const auto mistake = variable_name_mistake(name)) field.fail_at(place, *mistake);
    const YamlField& value = env[name];
    variables[name] = value.is_null() ? "" : value.text("a string");
    if (const auto mistake = text_mistake(variables[name])) value.fail(*mistake);
  }
  return variables;
}

std::string stem(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

std::string read_name(const YamlMapping& file) {
  return file.has("name") ? file["name"].string("a name") : stem(file.field().source().file);
}

Space read_space(const YamlMapping& file) {
  return read_parameters(file.required("parameters", "parameters: {lr: {min: 1e-6, max: 1, log: true}}"));
}

Metric read_metric(const YamlMapping& file) {
  return read_metric(file.required("metric", "metric: {name: accuracy, goal: maximize}"));
}

StudySpec read_study(const YamlField& root) {
  static const std::vector<std::string> kKeys = {"name",
                                                 "command",
                                                 "metric",
                                                 "budget",
                                                 "deadline",
                                                 "epochs",
                                                 "workers",
                                                 "seed",
                                                 "policy",
                                                 "parameters",
                                                 "checkpoint",
                                                 "grace",
                                                 "report_timeout",
                                                 "max_failures",
                                                 "env"};
  static const KeyAdvice kAdvice = {
      {"method", "write 'policy', for example policy: hyperband (`bapi policies` lists them)"},
      {"program", "write 'command', for example command: [python3, train.py, \"${args}\"]"},
      {"early_terminate", "the policy decides when a trial ends, for example policy: hyperband"},
      {"run_cap", "write 'budget', for example budget: 500 epochs"},
      {"project", "leave it out"},
      {"entity", "leave it out"},
      {"description", "write a comment"}};
  const YamlMapping study(root, kStudy, kKeys, kAdvice);

  StudySpec spec;
  spec.name = read_name(study);
  spec.space = read_space(study);
  spec.command =
      read_command(study.required("command", "command: [python3, train.py, --lr, \"${lr}\"]"), spec.space.params());
  spec.metric = read_metric(study);
  spec.budget = read_budget(study.required("budget", "budget: 30m"));
  spec.epochs = read_epochs(study.required("epochs", "epochs: {min: 1, max: 100}"));
  if (study.has("deadline")) spec.deadline = study["deadline"].seconds();
  if (study.has("workers")) spec.workers = study["workers"].small_integer();
  if (study.has("seed")) spec.seed = read_seed(study["seed"]);
  if (study.has("policy")) spec.policy = read_policy(study["policy"]);
  if (study.has("checkpoint")) {
    static const std::array kCheckpoints = {Checkpoint::kept, Checkpoint::none};
    spec.checkpoint = kCheckpoints[study["checkpoint"].one_of({"kept", "none"})];
  }
  if (study.has("grace")) spec.grace = study["grace"].seconds();
  if (study.has("report_timeout")) spec.report_timeout = study["report_timeout"].seconds();
  if (study.has("max_failures")) spec.max_failures = study["max_failures"].small_integer();
  if (study.has("env")) spec.env = read_env(study["env"]);
  spec.validate();
  return spec;
}

SpaceAndMetric read_space_and_metric(const YamlField& root) {
  const YamlMapping header(root, kSpaceAndMetric, {"name", "metric", "parameters"});
  SpaceAndMetric read = {.name = read_name(header), .space = read_space(header), .metric = read_metric(header)};
  if (const auto mistake = study_name_mistake(read.name)) throw InvalidInput("name: " + *mistake);
  return read;
}

// What `read` makes of the text; messages of Space and StudySpec, which know paths alone, get their places.
template <typename Read>
auto parse(std::string_view text, const std::string& file, const char* what, Read read) {
  YamlSource source{.file = file};
  const YamlField root = load_yaml(std::string(text), source, what);
  try {
    return read(root);
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    if (message.starts_with(file + ":")) throw;
    throw InvalidInput(source.located(message));
  }
}

}  // namespace

StudySpec parse_study_file(std::string_view text, const std::string& file) {
  return parse(text, file, kStudy, read_study);
}

SpaceAndMetric parse_space_and_metric(std::string_view text, const std::string& file) {
  return parse(text, file, kSpaceAndMetric, read_space_and_metric);
}

}  // namespace bapi
