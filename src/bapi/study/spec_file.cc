#include "bapi/study/spec_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/study/macros.h"
#include "bapi/study/scalar.h"

namespace bapi {
namespace {

// The file that is being read: its name, and where each path (parameters.lr.min) stands in it.
struct Source {
  std::string file;
  std::map<std::string, YAML::Mark> marks;

  std::string at(const YAML::Mark& mark) const {
    if (mark.is_null()) return file;
    return fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1);
  }

  // Puts the place before a message that begins with a path, as those of Space and StudySpec do.
  std::string located(const std::string& message) const {
    std::string path = message.substr(0, message.find(": "));
    while (true) {
      if (const auto found = marks.find(path); found != marks.end()) return at(found->second) + ": " + message;
      const std::size_t dot = path.rfind('.');
      if (dot == std::string::npos) return file + ": " + message;
      path.resize(dot);
    }
  }
};

// "a, b or c"
std::string either(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

// A place in the file, and the ways to read it. Each throws InvalidInput with place, path, found and expected.
class Field {
 public:
  Field(YAML::Node node, std::string path, Source& source)
      : node_(std::move(node)), path_(std::move(path)), source_(&source) {}

  const YAML::Node& node() const { return node_; }
  const std::string& path() const { return path_; }
  Source& source() const { return *source_; }
  std::string where() const { return place(mark()) + path_; }

  [[noreturn]] void fail(const std::string& message) const { fail_at(mark(), message); }
  [[noreturn]] void fail_at(const YAML::Mark& mark, const std::string& message) const {
    throw InvalidInput(place(mark) + (path_.empty() ? message : path_ + ": " + message));
  }
  [[noreturn]] void expected(const std::string& what) const {
    fail(fmt::format("found {}, expected {}", found(), what));
  }

  // The value of a scalar; quoted text is always a string. Monostate for anything else.
  Value value() const {
    if (!node_.IsScalar()) return std::monostate{};
    if (is_quoted()) return node_.Scalar();
    return parse_scalar(node_.Scalar());
  }

  // A scalar as it is written.
  std::string text(const std::string& what) const {
    if (!node_.IsScalar()) expected(what);
    return node_.Scalar();
  }

  std::string string(const std::string& what) const {
    const Value read = value();
    if (!std::holds_alternative<std::string>(read) || std::get<std::string>(read).empty()) expected(what);
    return std::get<std::string>(read);
  }

  bool boolean() const {
    const Value read = value();
    if (!std::holds_alternative<bool>(read)) expected("true or false");
    return std::get<bool>(read);
  }

  double number() const {
    const Value read = value();
    if (const auto* integer = std::get_if<std::int64_t>(&read)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&read)) return *real;
    expected("a number");
  }

  std::int64_t integer() const {
    const Value read = value();
    if (!std::holds_alternative<std::int64_t>(read)) expected("an integer");
    return std::get<std::int64_t>(read);
  }

  int small_integer() const {
    const std::int64_t wide = integer();
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) expected("a smaller integer");
    return static_cast<int>(wide);
  }

  double seconds() const { return parse_duration(text("a duration such as 90s, 30m, 2h, 1h30m or seconds"), where()); }

  // The index of the word among `words`.
  std::size_t one_of(const std::vector<std::string>& words) const {
    const auto word = std::find(words.begin(), words.end(), node_.IsScalar() ? node_.Scalar() : std::string());
    if (word == words.end()) expected(either(words));
    return static_cast<std::size_t>(word - words.begin());
  }

  std::vector<Field> items(const std::string& what) const {
    if (!node_.IsSequence()) expected(what);
    std::vector<Field> fields;
    for (const YAML::Node& item : node_)
      fields.emplace_back(item, fmt::format("{}[{}]", path_, fields.size()), *source_);
    return fields;
  }

  bool is_mapping() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  bool is_empty() const { return node_.IsNull() || std::holds_alternative<std::monostate>(value()); }

 private:
  // yaml-cpp tags plain scalars "?", quoted and block ones "!".
  bool is_quoted() const { return node_.Tag() == "!" || node_.Tag() == "tag:yaml.org,2002:str"; }

  std::string found() const {
    if (node_.IsMap()) return "a mapping";
    if (node_.IsSequence()) return "a list";
    if (node_.IsNull()) return "nothing";
    return is_quoted() ? fmt::format("\"{}\"", node_.Scalar()) : fmt::format("'{}'", node_.Scalar());
  }

  // An empty value stands where its key does; yaml-cpp puts it on the next line.
  YAML::Mark mark() const {
    const auto key = source_->marks.find(path_);
    return node_.IsNull() && key != source_->marks.end() ? key->second : node_.Mark();
  }

  std::string place(const YAML::Mark& mark) const { return source_->at(mark) + ": "; }

  YAML::Node node_;
  std::string path_;
  Source* source_;
};

// Keys that other tools have and bapi does not, with what to write instead.
using Advice = std::map<std::string, std::string>;

// A mapping whose keys are all different.
class Mapping {
 public:
  Mapping(const Field& field, const std::string& what) : field_(field) {
    if (!field.is_mapping()) field.expected(what);
    for (const auto& entry : field.node()) add(entry.first, entry.second);
  }

  // A mapping with these keys only.
  Mapping(const Field& field, const std::string& what, const std::vector<std::string>& known, const Advice& advice = {})
      : Mapping(field, what) {
    for (const auto& [key, mark] : keys_) check_key(key, mark, known, advice);
  }

  const std::vector<std::pair<std::string, YAML::Mark>>& keys() const { return keys_; }
  bool has(const std::string& key) const { return fields_.contains(key); }
  const Field& operator[](const std::string& key) const { return fields_.at(key); }
  const Field& field() const { return field_; }

  const Field& required(const std::string& key, const std::string& example) const {
    if (!has(key)) field_.fail(fmt::format("found no '{}', expected for example {}", key, example));
    return fields_.at(key);
  }

  void forbid(const std::vector<std::string>& keys, const std::string& beside) const {
    for (const std::string& key : keys) {
      if (has(key)) fields_.at(key).fail(fmt::format("has no meaning beside '{}'", beside));
    }
  }

 private:
  void add(const YAML::Node& key_node, const YAML::Node& value) {
    if (!key_node.IsScalar()) field_.fail_at(key_node.Mark(), "found a list or mapping, expected a word as key");
    const std::string& key = key_node.Scalar();
    const std::string path = field_.path().empty() ? key : field_.path() + "." + key;
    for (const auto& [earlier, mark] : keys_) {
      if (earlier == key) {
        field_.fail_at(key_node.Mark(), fmt::format("key '{}' is given twice, first in line {}", key, mark.line + 1));
      }
    }
    keys_.emplace_back(key, key_node.Mark());
    field_.source().marks[path] = key_node.Mark();
    fields_.emplace(key, Field(value, path, field_.source()));
  }

  void check_key(const std::string& key,
                 const YAML::Mark& mark,
                 const std::vector<std::string>& known,
                 const Advice& advice) const {
    if (std::find(known.begin(), known.end(), key) != known.end()) return;
    if (const auto found = advice.find(key); found != advice.end()) {
      field_.fail_at(mark, fmt::format("key '{}' is not one of bapi's; {}", key, found->second));
    }
    const std::string meant = nearest(key, known);
    field_.fail_at(mark,
                   meant.empty() ? fmt::format("unknown key '{}', expected one of {}", key, fmt::join(known, ", "))
                                 : fmt::format("unknown key '{}'; did you mean '{}'?", key, meant));
  }

  Field field_;
  std::vector<std::pair<std::string, YAML::Mark>> keys_;
  std::map<std::string, Field> fields_;
};

// ── parameters ──────────────────────────────────────────────────────────────────────────────────────────────────────

enum class Bounds { values, exponents, negated_exponents };
enum class Grid { real, integer, quantized };

// The bounded distributions of W&B sweeps. `inv_` is uniform in log(1 / x), which is uniform in log(x).
struct Distribution {
  std::string name;
  Scale scale;
  Bounds bounds;
  Grid grid;
};

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> kAll = {
      {"uniform", Scale::linear, Bounds::values, Grid::real},
      {"int_uniform", Scale::linear, Bounds::values, Grid::integer},
      {"q_uniform", Scale::linear, Bounds::values, Grid::quantized},
      {"log_uniform_values", Scale::log, Bounds::values, Grid::real},
      {"log_uniform", Scale::log, Bounds::exponents, Grid::real},
      {"q_log_uniform_values", Scale::log, Bounds::values, Grid::quantized},
      {"q_log_uniform", Scale::log, Bounds::exponents, Grid::quantized},
      {"inv_log_uniform_values", Scale::log, Bounds::values, Grid::real},
      {"inv_log_uniform", Scale::log, Bounds::negated_exponents, Grid::real}};
  return kAll;
}

// A grid of more points is better served by a range.
constexpr double kMostGridPoints = 1000.0;

// Doubles up to here are whole numbers that fit 64 bits.
constexpr double kLargestInteger = 9e18;

// A range over fewer integers than this is rather a real range whose bounds happen to be whole numbers.
constexpr double kNarrowIntegers = 2.0;

[[noreturn]] void unknown_distribution(const Field& field, const std::string& name) {
  std::vector<std::string> known = {"constant", "categorical"};
  for (const Distribution& distribution : distributions()) known.push_back(distribution.name);
  if (name.ends_with("normal") || name.ends_with("beta")) {
    field.fail(
        fmt::format("found '{}', but bapi searches between bounds; expected min and max with uniform or "
                    "log_uniform_values",
                    name));
  }
  if (name == "categorical_w_probabilities") field.fail(fmt::format("found '{}', expected categorical", name));
  const std::string meant = nearest(name, known);
  field.expected(meant.empty() ? fmt::format("one of {}", fmt::join(known, ", ")) : meant);
}

const Distribution& distribution_of(const Field& field) {
  const std::string name = field.string("the name of a distribution");
  for (const Distribution& distribution : distributions()) {
    if (distribution.name == name) return distribution;
  }
  if (name == "constant") field.fail("found 'constant' without 'value'");
  if (name == "categorical") field.fail("found 'categorical' without 'values'");
  unknown_distribution(field, name);
}

// The domain over the multiples of q between the bounds, both rounded to the nearest.
Domain quantized(const Mapping& param, double low, double high, Scale scale) {
  const double q = param.has("q") ? param["q"].number() : 1.0;
  if (!(q > 0.0 && std::isfinite(q))) param["q"].expected("a positive number");
  const double first = std::round(low / q);
  const double last = std::round(high / q);
  if (!(first <= last)) param.field().fail(fmt::format("min = {} is above max = {}", low, high));
  if (q == 1.0) {
    if (!(std::max(-first, last) < kLargestInteger)) param["max"].expected("bounds within 64 bits");
    return IntRange{.low = static_cast<std::int64_t>(first), .high = static_cast<std::int64_t>(last), .scale = scale};
  }
  if (scale != Scale::linear) param["q"].expected("1 with a log scale; leave q out or list the values");
  if (!(last - first < kMostGridPoints)) {
    param["q"].expected(fmt::format("at most {} steps between min and max", kMostGridPoints));
  }
  // 3 / 10 is closer to 0.3 than 3 * 0.1 is.
  const double inverse = std::round(1.0 / q);
  const bool reciprocal = q < 1.0 && std::abs(inverse * q - 1.0) < 1e-12;
  std::vector<Value> points;
  for (double k = first; k <= last; ++k) {
    const double point = reciprocal ? k / inverse : k * q;
    if (q == std::round(q)) {
      points.emplace_back(static_cast<std::int64_t>(point));
    } else {
      points.emplace_back(point);
    }
  }
  return choice_of(std::move(points));
}

Domain read_distribution(const Mapping& param) {
  const Distribution& distribution = distribution_of(param["distribution"]);
  param.forbid({"log", "scale", "type"}, "distribution");
  if (distribution.grid != Grid::quantized) param.forbid({"q"}, distribution.name);
  if (distribution.grid == Grid::integer) {
    return IntRange{.low = param["min"].integer(), .high = param["max"].integer(), .scale = distribution.scale};
  }
  double low = param["min"].number();
  double high = param["max"].number();
  if (distribution.bounds == Bounds::exponents) {
    low = std::exp(low);
    high = std::exp(high);
  } else if (distribution.bounds == Bounds::negated_exponents) {
    low = std::exp(-std::exchange(high, std::exp(-low)));
  }
  if (distribution.grid == Grid::quantized) return quantized(param, low, high, distribution.scale);
  return RealRange{.low = low, .high = high, .scale = distribution.scale};
}

Scale read_scale(const Mapping& param) {
  if (param.has("scale")) {
    param.forbid({"log"}, "scale");
    static const std::array kScales = {Scale::linear, Scale::log, Scale::log_complement};
    return kScales[param["scale"].one_of({"linear", "log", "log1m"})];
  }
  return param.has("log") && param["log"].boolean() ? Scale::log : Scale::linear;
}

// As in W&B, whole numbers as bounds mean an integer, unless `type` says otherwise.
Grid read_grid(const Mapping& param) {
  static const std::array kGrids = {Grid::integer, Grid::integer, Grid::real, Grid::real};
  if (param.has("type")) return kGrids[param["type"].one_of({"int", "integer", "real", "float"})];
  const bool whole = std::holds_alternative<std::int64_t>(param["min"].value()) &&
                     std::holds_alternative<std::int64_t>(param["max"].value());
  if (!whole) return Grid::real;
  const double width = param["max"].number() - param["min"].number();
  if (width > 0.0 && width < kNarrowIntegers) {
    param.field().fail(
        fmt::format("found {{min: {}, max: {}}}, which may be integers or real numbers; expected "
                    "'type: int' or 'type: real' as well",
                    param["min"].integer(),
                    param["max"].integer()));
  }
  return Grid::integer;
}

Domain read_range(const Mapping& param) {
  static const std::string kExample = "{min: 0.1, max: 1.0}, {values: [a, b]} or {value: 3}";
  param.required("min", kExample);
  param.required("max", kExample);
  if (param.has("distribution")) return read_distribution(param);
  if (param.has("q")) param["q"].fail("needs a distribution beside it, for example distribution: q_uniform");
  const Scale scale = read_scale(param);
  if (read_grid(param) == Grid::real) {
    return RealRange{.low = param["min"].number(), .high = param["max"].number(), .scale = scale};
  }
  if (scale == Scale::log_complement) param["scale"].expected("linear or log for an integer; or 'type: real'");
  return IntRange{.low = param["min"].integer(), .high = param["max"].integer(), .scale = scale};
}

Value read_value(const Field& field) {
  if (field.is_empty() || field.is_list() || field.is_mapping()) field.expected("a number, a word, true or false");
  const Value value = field.value();
  if (const auto* real = std::get_if<double>(&value); real && !std::isfinite(*real)) field.expected("a finite number");
  return value;
}

void expect_distribution(const Mapping& param, const std::string& name) {
  if (param.has("distribution")) param["distribution"].one_of({name});
}

Domain read_domain(const Mapping& param) {
  if (param.has("value")) {
    param.forbid({"values", "min", "max", "log", "scale", "type", "q"}, "value");
    expect_distribution(param, "constant");
    return Constant{read_value(param["value"])};
  }
  if (param.has("values")) {
    param.forbid({"min", "max", "log", "scale", "type", "q"}, "values");
    expect_distribution(param, "categorical");
    std::vector<Value> options;
    for (const Field& item : param["values"].items("a list")) options.push_back(read_value(item));
    return choice_of(std::move(options));
  }
  return read_range(param);
}

std::vector<Condition> read_conditions(const Field& field) {
  std::vector<Condition> conditions;
  const Mapping when(field, "a mapping such as {optimizer: sgd}");
  for (const auto& [name, mark] : when.keys()) {
    Condition condition{.param = name};
    const Field& values = when[name];
    if (values.is_list()) {
      for (const Field& item : values.items("a list")) condition.values.push_back(read_value(item));
    } else {
      condition.values.push_back(read_value(values));
    }
    if (condition.values.empty()) values.expected("at least one value");
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

Param read_param(const std::string& name, const Field& field) {
  static const std::vector<std::string> kKeys = {
      "value", "values", "min", "max", "distribution", "log", "scale", "type", "q", "when"};
  static const Advice kAdvice = {
      {"probabilities", "every value is equally likely at first"},
      {"mu", "bapi searches between bounds: give min and max"},
      {"sigma", "bapi searches between bounds: give min and max"},
      {"parameters", "parameters are not nested; a name may contain dots, and 'when' makes one conditional"}};
  const Mapping param(field, "{min: 0.1, max: 1.0}, {values: [a, b]} or {value: 3}", kKeys, kAdvice);
  Param result{.name = name, .domain = read_domain(param)};
  if (param.has("when")) result.when = read_conditions(param["when"]);
  return result;
}

// A condition names another parameter of the file. A whole number as condition on a real parameter is a real number.
void link_conditions(std::vector<Param>& params) {
  std::vector<std::string> names;
  for (const Param& param : params) names.push_back(param.name);
  for (Param& param : params) {
    for (Condition& condition : param.when) {
      const auto found = std::find(names.begin(), names.end(), condition.param);
      if (found == names.end()) {
        const std::string meant = nearest(condition.param, names);
        throw InvalidInput(fmt::format("parameters.{}.when.{}: there is no such parameter{}",
                                       param.name,
                                       condition.param,
                                       meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
      }
      const Domain& domain = params[static_cast<std::size_t>(found - names.begin())].domain;
      if (!std::holds_alternative<RealRange>(domain)) continue;
      for (Value& value : condition.values) {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*integer);
      }
    }
  }
}

Space read_space(const Field& field) {
  const Mapping fields(field, "a mapping such as {lr: {min: 1e-6, max: 1, log: true}}");
  if (fields.keys().empty()) field.fail("found none, expected at least one parameter");
  std::vector<Param> params;
  for (const auto& [name, mark] : fields.keys()) {
    if (const auto mistake = param_name_mistake(name)) field.fail_at(mark, *mistake);
    params.push_back(read_param(name, fields[name]));
  }
  link_conditions(params);
  return Space(std::move(params));
}

// ── the other fields ────────────────────────────────────────────────────────────────────────────────────────────────

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

std::vector<std::string> read_command(const Field& field, const std::vector<Param>& params) {
  if (field.node().IsScalar()) {
    field.fail(fmt::format("found a string, expected a list with one item per argument, because there is no shell: {}",
                           as_list(field.node().Scalar())));
  }
  std::vector<std::string> command;
  for (const Field& item : field.items("a list with one item per argument")) {
    if (item.node().IsNull()) item.expected("an argument; quote it if it is a word that YAML knows");
    command.push_back(item.text("an argument"));
    if (const auto mistake = macro_mistake(command.back(), params)) item.fail(*mistake);
  }
  if (command.empty() || command.front().empty()) field.fail("found no program, expected at least its name");
  return command;
}

Metric read_metric(const Field& field) {
  const Mapping metric(field, "{name: accuracy, goal: maximize}", {"name", "goal"});
  static const std::array kGoals = {Goal::maximize, Goal::minimize};
  return {.name = metric.required("name", "name: accuracy").string("the name of a metric"),
          .goal = kGoals[metric.required("goal", "goal: maximize").one_of({"maximize", "minimize"})]};
}

BudgetSpec read_budget(const Field& field) {
  if (!field.is_mapping())
    return parse_budget(field.text("a budget such as 30m, 2h, '500 epochs' or '12 usd'"), field.where());
  const Mapping budget(field, "a mapping", {"limit", "unit", "per_hour"});
  const Field& limit = budget.required("limit", "{limit: 12, unit: usd, per_hour: 2.5}");
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

EpochRange read_epochs(const Field& field) {
  if (!field.is_mapping()) {
    if (!std::holds_alternative<std::int64_t>(field.value())) field.expected("an integer or {min: 1, max: 100}");
    return {.max = field.small_integer()};
  }
  const Mapping epochs(field, "a mapping", {"min", "max"});
  EpochRange range{.max = epochs.required("max", "{min: 1, max: 100}").small_integer()};
  if (epochs.has("min")) range.min = epochs["min"].small_integer();
  return range;
}

PolicySpec read_policy(const Field& field) {
  if (!field.is_mapping()) return {.name = field.string("a name such as hyperband, or {name: hyperband, eta: 3}")};
  const Mapping policy(field, "a mapping");
  PolicySpec spec{.name = policy.required("name", "{name: hyperband, eta: 3}").string("the name of a policy")};
  for (const auto& [key, mark] : policy.keys()) {
    if (key != "name") spec.options[key] = read_value(policy[key]);
  }
  return spec;
}

std::uint64_t read_seed(const Field& field) {
  const std::string text = field.text("an integer from 0");
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) field.expected("an integer from 0 to 2^64 - 1");
  return seed;
}

std::map<std::string, std::string> read_env(const Field& field) {
  std::map<std::string, std::string> variables;
  const Mapping env(field, "a mapping such as {OMP_NUM_THREADS: 1}");
  for (const auto& [name, mark] : env.keys()) {
    if (name.empty() || name.find('=') != std::string::npos) field.fail_at(mark, "expected a name without '='");
    if (name.starts_with("BAPI_")) field.fail_at(mark, fmt::format("{} is set by bapi itself", name));
    variables[name] = env[name].node().IsNull() ? "" : env[name].text("a string");
  }
  return variables;
}

std::string stem(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

StudySpec read_study(const Field& root) {
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
  static const Advice kAdvice = {
      {"method", "write 'policy', for example policy: hyperband (`bapi policies` lists them)"},
      {"program", "write 'command', for example command: [python3, train.py, \"${args}\"]"},
      {"early_terminate", "the policy decides when a trial ends, for example policy: hyperband"},
      {"run_cap", "write 'budget', for example budget: 500 epochs"},
      {"project", "leave it out"},
      {"entity", "leave it out"},
      {"description", "write a comment"}};
  const Mapping study(root, "a mapping with command, metric, budget, epochs and parameters", kKeys, kAdvice);

  StudySpec spec;
  spec.name = study.has("name") ? study["name"].string("a name") : stem(root.source().file);
  spec.space = read_space(study.required("parameters", "parameters: {lr: {min: 1e-6, max: 1, log: true}}"));
  spec.command =
      read_command(study.required("command", "command: [python3, train.py, --lr, \"${lr}\"]"), spec.space.params());
  spec.metric = read_metric(study.required("metric", "metric: {name: accuracy, goal: maximize}"));
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

// The most frequent slip in a command list deserves better than "end of sequence flow not found".
std::string syntax_hint(std::string_view text, const YAML::Mark& mark) {
  std::size_t begin = 0;
  for (int line = 0; line < mark.line && begin != std::string_view::npos; ++line) {
    begin = text.find('\n', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  if (begin == std::string_view::npos) return "";
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  const bool macro_in_list = line.find('[') != std::string_view::npos && line.find("${") != std::string_view::npos;
  return macro_in_list ? "; inside [ ] a macro needs quotes: \"${name}\"" : "";
}

// Hears where a document begins, and nothing else.
class DocumentStart : public YAML::EventHandler {
 public:
  YAML::Mark mark = YAML::Mark::null_mark();

  void OnDocumentStart(const YAML::Mark& begin) override { mark = begin; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::Load reads the first document and forgets the rest; YAML::LoadAll does not return from some broken texts.
std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
  if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) return std::nullopt;
  return start.mark;
}

YAML::Node load(const std::string& text, const Source& source) {
  try {
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull()) {
      throw InvalidInput(
          fmt::format("{}:1:1: found nothing, expected a mapping with command, metric, budget, epochs and parameters",
                      source.file));
    }
    if (const auto mark = second_document(text)) {
      throw InvalidInput(fmt::format("{}: found more after the end of the study, expected nothing", source.at(*mark)));
    }
    return document;
  } catch (const YAML::Exception& error) {
    throw InvalidInput(
        fmt::format("{}: not YAML: {}{}", source.at(error.mark), error.msg, syntax_hint(text, error.mark)));
  }
}

}  // namespace

StudySpec parse_study_file(std::string_view text, const std::string& file) {
  Source source{.file = file, .marks = {}};
  const Field root(load(std::string(text), source), "", source);
  try {
    return read_study(root);
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    if (message.starts_with(file + ":")) throw;
    throw InvalidInput(source.located(message));
  }
}

StudySpec read_study_file(const std::string& path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  require(stream.good() && text.good() && errno == 0,
          fmt::format("{}: cannot be read: {}", path, errno != 0 ? std::strerror(errno) : "it is empty"));
  return parse_study_file(text.str(), path);
}

}  // namespace bapi
