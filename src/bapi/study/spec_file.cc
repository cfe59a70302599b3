#include "bapi/study/spec_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/study/macros.h"
#include "bapi/study/names.h"
#include "bapi/study/parameters_file.h"
#include "bapi/study/spec_fields.h"
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

// ── notations: how a field is written whose type does not say it ────────────────────────────────────────────────────

void read_notation(const YamlField& field, std::vector<std::string>& command) {
  if (field.is_scalar()) {
    field.fail(fmt::format("found a string, expected a list with one item per argument, because there is no shell: {}",
                           as_list(field.text("a list"))));
  }
  for (const YamlField& item : field.items("a list with one item per argument")) {
    if (item.is_null()) item.expected("an argument; quote it if it is a word that YAML knows");
    command.push_back(item.text("an argument"));
    if (const auto mistake = text_mistake(command.back())) item.fail(*mistake);
  }
  if (command.empty() || command.front().empty()) field.fail("found no program, expected at least its name");
}

void read_notation(const YamlField& field, BudgetSpec& spec) {
  if (!field.is_mapping()) {
    spec = parse_budget(field.text("a budget such as 30m, 2h, '500 epochs' or '12 usd'"), field.where());
    return;
  }
  const YamlMapping budget(field, "a mapping", {"limit", "unit", "per_hour"});
  const YamlField& limit = budget.required("limit", "{limit: 12, unit: usd, per_hour: 2.5}");
  if (!budget.has("unit")) {
    if (budget.has("per_hour")) budget["per_hour"].fail("needs a unit as well, for example unit: usd");
    spec = parse_budget(limit.text("a budget such as 30m"), limit.where());
    return;
  }
  spec = budget_of(limit.number(), budget["unit"].string("a unit such as usd"), budget["unit"].where());
  if (budget.has("per_hour")) {
    if (spec.meter != Meter::reported) budget["per_hour"].fail(fmt::format("has no meaning in {}", spec.unit));
    spec.meter = Meter::accrued;
    spec.per_hour = budget["per_hour"].number();
  }
}

void read_notation(const YamlField& field, EpochRange& range) {
  if (!field.is_mapping()) {
    if (!std::holds_alternative<std::int64_t>(field.value())) field.expected("an integer or {min: 1, max: 100}");
    range.max = field.small_integer();
    return;
  }
  const YamlMapping epochs(field, "a mapping", {"min", "max"});
  range.max = epochs.required("max", "{min: 1, max: 100}").small_integer();
  if (epochs.has("min")) range.min = epochs["min"].small_integer();
}

// An end of the bounds of a metric; null leaves it open.
double read_end(const YamlField& field, double open) { return field.is_empty() ? open : field.number(); }

void read_notation(const YamlField& field, MetricBounds& bounds) {
  constexpr const char* kBounds = "two numbers such as [0, 1]; null leaves an end open: [0, null]";
  if (!field.is_list()) field.expected(kBounds);
  const std::vector<YamlField> ends = field.items(kBounds);
  if (ends.size() != 2) field.fail(fmt::format("found {} values, expected {}", ends.size(), kBounds));
  bounds = {.low = read_end(ends[0], MetricBounds{}.low), .high = read_end(ends[1], MetricBounds{}.high)};
  if (!(bounds.low < bounds.high))
    field.fail(fmt::format("the lower end is not below the upper one; expected {}", kBounds));
}

void read_notation(const YamlField& field, PolicySpec& spec) {
  spec = {};
  if (!field.is_mapping()) {
    spec.name = field.string("a name such as hyperband, or {name: hyperband, eta: 3}");
    return;
  }
  const YamlMapping policy(field, "a mapping");
  spec.name = policy.required("name", "{name: hyperband, eta: 3}").string("the name of a policy");
  for (const auto& [key, place] : policy.keys()) {
    if (key != "name") spec.options[key] = read_yaml_value(policy[key]);
  }
}

int read_kept_trials(const YamlField& field) {
  constexpr const char* kExpected = "all, or best 3 for the three best trials";
  const std::string text = field.text(kExpected);
  if (text == "all") return 0;
  const auto count = number_in<int>(text.starts_with("best ") ? text.substr(5) : text);
  if (!count || *count < 1) field.expected(kExpected);
  return *count;
}

void read_notation(const YamlField& field, KeptCheckpoints& kept) {
  const YamlMapping mapping(field, "{keep: best 3, final: yes}", {"keep", "final"});
  if (mapping.has("keep")) kept.best = read_kept_trials(mapping["keep"]);
  if (mapping.has("final")) kept.final = mapping["final"].yes();
}

constexpr const char* kGpus = "auto, none, a list such as [0, 1], or {devices: auto, per_gpu: 2}";

void read_devices(const YamlField& field, Gpus& gpus) {
  if (field.is_list()) {
    for (const YamlField& item : field.items("a list")) {
      gpus.devices.push_back(item.text("the number or the UUID of a GPU"));
      if (const auto mistake = gpu_name_mistake(gpus.devices.back())) item.fail(*mistake);
    }
    if (gpus.devices.empty()) field.fail("found an empty list, expected at least one GPU, or gpus: none");
    return;
  }
  if (!field.is_scalar()) field.expected(kGpus);
  const std::string text = field.text(kGpus);
  if (text == "none") return;
  if (text != "auto") field.expected(kGpus);
  gpus.automatic = true;
}

void read_notation(const YamlField& field, Gpus& gpus) {
  gpus = {};
  if (!field.is_mapping()) return read_devices(field, gpus);
  const YamlMapping mapping(field, kGpus, {"devices", "per_gpu"});
  read_devices(mapping.required("devices", "{devices: auto, per_gpu: 2}"), gpus);
  if (mapping.has("per_gpu")) gpus.per_gpu = mapping["per_gpu"].small_integer();
}

void read_notation(const YamlField& field, std::uint64_t& seed) {
  const auto number = number_in<std::uint64_t>(field.text("an integer from 0"));
  if (!number) field.expected("an integer from 0 to 2^64 - 1");
  seed = *number;
}

void read_notation(const YamlField& field, std::map<std::string, std::string>& variables) {
  const YamlMapping env(field, "a mapping such as {OMP_NUM_THREADS: 1}");
  for (const auto& [name, place] : env.keys()) {
    if (const auto mistake = variable_name_mistake(name)) field.fail_at(place, *mistake);
    const YamlField& value = env[name];
    variables[name] = value.is_null() ? "" : value.text("a string");
    if (const auto mistake = text_mistake(variables[name])) value.fail(*mistake);
  }
}

void read_notation(const YamlField& field, std::vector<NamedValues>& tries) {
  for (const YamlField& item : field.items("a list of configurations such as [{lr: 0.1}]")) {
    const YamlMapping values(item, "a configuration such as {lr: 0.1, units: 64}");
    NamedValues& wish = tries.emplace_back();
    for (const auto& [name, place] : values.keys()) wish[name] = read_yaml_value(values[name]);
  }
}

void read_notation(const YamlField& field, std::vector<WarmStart>& from) {
  constexpr const char* kStudies = "a list of earlier studies such as [old.bapi]";
  constexpr const char* kOne = "a study such as old.bapi, or {study: old.bapi, metric: accuracy}";
  from.clear();
  for (const YamlField& item : field.is_list() ? field.items(kStudies) : std::vector<YamlField>{field}) {
    WarmStart& source = from.emplace_back();
    if (item.is_mapping()) {
      const YamlMapping mapping(item, kOne, {"study", "metric"});
      source.study = mapping.required("study", "{study: old.bapi, metric: accuracy}").string("a study");
      if (mapping.has("metric")) source.metric = mapping["metric"].string("the name of a metric");
    } else {
      source.study = item.string(kOne);
    }
    if (source.study.empty()) item.expected(kOne);
    if (const auto mistake = text_mistake(source.study)) item.fail(*mistake);
  }
}

void read_notation(const YamlField& field, Space& space) { space = read_parameters(field); }

// ── fields: everything else is read by its type ─────────────────────────────────────────────────────────────────────

// The keys of the fields that it visits, and of them those that do not need a training program.
struct KeyList {
  std::vector<std::string> keys = {};
  std::vector<std::string> of_functions = {};

  template <typename T>
  void operator()(const Field& field, const T&) {
    if (field.key.empty()) return;
    keys.emplace_back(field.key);
    if (!field.for_programs) of_functions.emplace_back(field.key);
  }
};

template <typename T>
KeyList keys_of(const T& value) {
  KeyList list;
  fields(list, value);
  return list;
}

template <typename T>
void read_field(const YamlField& yaml, const Field& field, T& value);

// Reads the fields that it visits from a mapping, each once, and leaves those alone that are not there. With
// Demand::all, those that must be there are missed.
enum class Demand { all, nothing };

class MappingReader {
 public:
  MappingReader(const YamlMapping& mapping, Demand demand, Mistakes& mistakes)
      : mapping_(mapping), demand_(demand), mistakes_(mistakes) {}

  template <typename T>
  void operator()(const Field& field, T& value) {
    const std::string key(field.key);
    if (key.empty() || !read_.insert(key).second) return;
    const std::size_t before = mistakes_.count();
    if (mapping_.has(key)) {
      mistakes_.of([&] { read_field(mapping_[key], field, value); });
    } else if (demand_ == Demand::all && !field.example.empty()) {
      mistakes_.of_missing(key, [&] { mapping_.required(key, std::string(field.example)); });
    }
    if (mistakes_.count() > before) unread_.insert(key);
  }

  const StudyKeys& unread() const { return unread_; }  // missing, or mistaken

 private:
  const YamlMapping& mapping_;
  Demand demand_;
  Mistakes& mistakes_;
  std::set<std::string> read_ = {};
  StudyKeys unread_ = {};
};

// Shows a visitor one field of those that there are.
template <typename Visitor>
struct OnlyKey {
  Visitor& visit;
  std::string_view key;

  template <typename T>
  void operator()(const Field& field, T& value) {
    if (field.key == key) visit(field, value);
  }
};

// A study file that gives GPUs and no number of workers wants one for each place; `auto` is counted where it is run.
void follow_gpus(StudySpec& spec) {
  spec.gpus.set_workers = true;
  if (!spec.gpus.devices.empty()) spec.workers = static_cast<int>(spec.gpus.devices.size()) * spec.gpus.per_gpu;
}

void check_macros(const YamlField& command, const Space& space) {
  for (const YamlField& item : command.items("a list")) {
    if (const auto mistake = macro_mistake(item.text("an argument"), space.params())) item.fail(*mistake);
  }
}

void check_tries(const YamlField& tries, const StudySpec& spec) {
  const std::vector<YamlField> items = tries.items("a list");
  for (std::size_t i = 0; i < items.size(); ++i) {
    try {
      wish_of(spec.tries[i], spec.space);
    } catch (const InvalidInput& error) {
      items[i].fail(error.what());
    }
  }
}

// The parameters come first and then the command, which refers to them: mistakes there would only lead to others here.
// Returns the keys that could not be read.
StudyKeys read_fields(const YamlMapping& file, Demand demand, StudySpec& spec, Mistakes& mistakes) {
  MappingReader reader(file, demand, mistakes);
  OnlyKey<MappingReader> parameters{.visit = reader, .key = "parameters"};
  fields(parameters, spec);
  OnlyKey<MappingReader> command{.visit = reader, .key = "command"};
  fields(command, spec);
  if (mistakes.none() && file.has("command")) mistakes.of([&] { check_macros(file["command"], spec.space); });
  fields(reader, spec);
  StudyKeys unread = reader.unread();
  if (file.has("try") && !unread.contains("try")) {
    const std::size_t before = mistakes.count();
    if (!unread.contains("parameters")) mistakes.of([&] { check_tries(file["try"], spec); });
    if (unread.contains("parameters") || mistakes.count() > before) unread.insert("try");
  }
  if (spec.gpus.given() && !file.has("workers")) follow_gpus(spec);
  return unread;
}

void read_text(const YamlField& yaml, const Field& field, std::string& value) {
  value = yaml.string(field.what.empty() ? "text" : std::string(field.what));
  if (field.rule == nullptr) return;
  if (const auto mistake = field.rule(value)) yaml.fail(*mistake);
}

template <Named Enum>
Enum read_word(const YamlField& yaml) {
  const std::vector<std::string_view> known = words<Enum>();
  return names<Enum>.entries[yaml.one_of({known.begin(), known.end()})].value;
}

void read_notation(const YamlField& field, Goal& goal) {
  const std::string text = field.is_scalar() ? field.text("maximize or minimize") : "";
  if (text == "max" || text == "maximise") {
    goal = Goal::maximize;
  } else if (text == "min" || text == "minimise") {
    goal = Goal::minimize;
  } else {
    goal = read_word<Goal>(field);
  }
}

// What to write instead of the words that other tools have for the keys of a mapping.
template <typename T>
const KeyAdvice kAdviceOn = {};
template <>
const KeyAdvice kAdviceOn<Metric> = {{"direction", "write 'goal', for example goal: minimize"},
                                     {"mode", "write 'goal', for example goal: minimize"}};

template <typename T>
constexpr bool kOptional = false;
template <typename T>
constexpr bool kOptional<std::optional<T>> = true;

template <typename T>
void read_field(const YamlField& yaml, const Field& field, T& value) {
  if constexpr (requires { read_notation(yaml, value); }) {
    read_notation(yaml, value);
  } else if constexpr (kOptional<T>) {
    read_field(yaml, field, value.emplace());
  } else if constexpr (std::is_same_v<T, std::string>) {
    read_text(yaml, field, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = yaml.yes();
  } else if constexpr (std::is_same_v<T, int>) {
    value = yaml.small_integer();
  } else if constexpr (std::is_same_v<T, double>) {
    value = field.seconds ? yaml.seconds() : yaml.number();
  } else if constexpr (Named<T>) {
    value = read_word<T>(yaml);
  } else if constexpr (Listed<T, MappingReader>) {
    const std::vector<std::string> keys = keys_of(value).keys;
    const std::string what = fmt::format("a mapping with {}", fmt::join(keys, ", "));
    const YamlMapping mapping(yaml, field.what.empty() ? what : std::string(field.what));
    Mistakes mistakes(yaml.source());
    mistakes.of([&] { mapping.refuse_unknown(keys, kAdviceOn<T>); });
    MappingReader reader(mapping, Demand::all, mistakes);
    fields(reader, value);
    mistakes.forgive_missing([&](const std::string& key) { return mapping.seems_misspelt(key, keys, kAdviceOn<T>); });
    mistakes.refuse();
  } else {
    throw LogicError(fmt::format("spec_file: {} has no notation", field.name));
  }
}

// ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────

std::string stem(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

// A directory that the file names, seen from that of the file.
std::string seen_from(const std::string& file, const std::string& directory) {
  const std::filesystem::path base = std::filesystem::absolute(file).parent_path();
  std::string path = (base / directory).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

StudySpec read_study(const YamlField& root, const std::optional<std::string>& name) {
  static const KeyAdvice kAdvice = {
      {"method", "write 'policy', for example policy: hyperband (`bapi policies` lists them)"},
      {"program", "write 'command', for example command: [python3, train.py, \"${args}\"]"},
      {"early_terminate", "the policy decides when a trial ends, for example policy: hyperband"},
      {"run_cap", "write 'budget', for example budget: 500 epochs"},
      {"project", "leave it out"},
      {"entity", "leave it out"},
      {"description", "write a comment"},
      {"direction", "write 'metric', for example metric: {name: loss, goal: minimize}"},
      {"objective", "write 'metric', for example metric: {name: loss, goal: minimize}"},
      {"mode", "write 'metric', for example metric: {name: loss, goal: minimize}"},
      {"search_space", "write 'parameters'"},
      {"space", "write 'parameters'"},
      {"params", "write 'parameters'"},
      {"hyperparameters", "write 'parameters'"},
      {"n_trials", "write 'budget', for example budget: 500 epochs"},
      {"num_samples", "write 'budget', for example budget: 500 epochs"},
      {"timeout", "write 'budget', for example budget: 30m"},
      {"max_epochs", "write 'epochs', for example epochs: 50"},
      {"max_resource", "write 'epochs', for example epochs: 50"},
      {"n_jobs", "write 'workers'"}};
  StudySpec spec;
  spec.name = stem(root.source().file);
  const std::vector<std::string> known = keys_of(spec).keys;
  const YamlMapping study(root, kStudy);
  Mistakes unknown(root.source());
  unknown.of([&] { study.refuse_unknown(known, kAdvice); });
  Mistakes mistakes(root.source());
  const StudyKeys unread = read_fields(study, Demand::all, spec, mistakes);
  mistakes.forgive_missing([&](const std::string& key) { return study.seems_misspelt(key, known, kAdvice); });
  if (name) spec.name = *name;
  if (!spec.cwd.empty()) spec.cwd = seen_from(root.source().file, spec.cwd);
  for (WarmStart& source : spec.from) source.study = seen_from(root.source().file, source.study);
  mistakes.of([&] { spec.validate(unread); });
  mistakes.of([&] { unknown.refuse(); });
  mistakes.refuse();
  return spec;
}

SpaceAndMetric read_space_and_metric(const YamlField& root) {
  const YamlMapping header(root, kSpaceAndMetric, {"name", "metric", "parameters"});
  header.required("parameters", "parameters: {lr: {min: 1e-6, max: 1, log: true}}");
  header.required("metric", "metric: {name: accuracy, goal: maximize}");
  StudySpec spec;
  spec.name = stem(root.source().file);
  Mistakes mistakes(root.source());
  read_fields(header, Demand::nothing, spec, mistakes);
  mistakes.refuse();
  if (const auto mistake = study_name_mistake(spec.name)) throw InvalidInput("name: " + *mistake);
  return {.name = spec.name, .space = spec.space, .metric = spec.metric};
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

StudySpec parse_study_file(std::string_view text, const std::string& file, const std::optional<std::string>& name) {
  return parse(text, file, kStudy, [&](const YamlField& root) { return read_study(root, name); });
}

SpaceAndMetric parse_space_and_metric(std::string_view text, const std::string& file) {
  return parse(text, file, kSpaceAndMetric, read_space_and_metric);
}

std::vector<std::string> function_study_keys() { return keys_of(StudySpec{}).of_functions; }

void read_function_study(std::string_view text, StudySpec& spec) {
  parse(text, "", "a mapping", [&](const YamlField& root) {
    Mistakes mistakes(root.source());
    read_fields(YamlMapping(root, "a mapping", function_study_keys()), Demand::nothing, spec, mistakes);
    mistakes.refuse();
  });
}

}  // namespace bapi
