#include "bapi/study/parameters_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/space/choice.h"
#include "bapi/study/names.h"

namespace bapi {
namespace {

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

[[noreturn]] void unknown_distribution(const YamlField& field, const std::string& name) {
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

const Distribution& distribution_of(const YamlField& field) {
  const std::string name = field.string("the name of a distribution");
  for (const Distribution& distribution : distributions()) {
    if (distribution.name == name) return distribution;
  }
  if (name == "constant") field.fail("found 'constant' without 'value'");
  if (name == "categorical") field.fail("found 'categorical' without 'values'");
  unknown_distribution(field, name);
}

// The domain over the multiples of q between the bounds, both rounded to the nearest.
Domain quantized(const YamlMapping& param, double low, double high, Scale scale) {
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

Domain read_distribution(const YamlMapping& param) {
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

Scale read_scale(const YamlMapping& param) {
  if (param.has("scale")) {
    param.forbid({"log"}, "scale");
    static const std::array kScales = {Scale::linear, Scale::log, Scale::log_complement};
    return kScales[param["scale"].one_of({"linear", "log", "log1m"})];
  }
  return param.has("log") && param["log"].boolean() ? Scale::log : Scale::linear;
}

// As in W&B, whole numbers as bounds mean an integer, unless `type` says otherwise.
Grid read_grid(const YamlMapping& param) {
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

Domain read_range(const YamlMapping& param) {
  static const std::string kExample = "{min: 0.1, max: 1.0}, {values: [a, b]} or {value: 3}";
  param.required("min", kExample);
  param.required("max", kExample);
  if (param.has("distribution")) return read_distribution(param);
  if (param.has("q")) param["q"].fail("needs a distribution as well, for example distribution: q_uniform");
  const Scale scale = read_scale(param);
  if (read_grid(param) == Grid::real) {
    return RealRange{.low = param["min"].number(), .high = param["max"].number(), .scale = scale};
  }
  if (scale == Scale::log_complement) param["scale"].expected("linear or log for an integer; or 'type: real'");
  return IntRange{.low = param["min"].integer(), .high = param["max"].integer(), .scale = scale};
}

void expect_distribution(const YamlMapping& param, const std::string& name) {
  if (param.has("distribution")) param["distribution"].one_of({name});
}

Domain read_domain(const YamlMapping& param) {
  if (param.has("value")) {
    param.forbid({"values", "min", "max", "log", "scale", "type", "q"}, "value");
    expect_distribution(param, "constant");
    return Constant{read_yaml_value(param["value"])};
  }
  if (param.has("values")) {
    param.forbid({"min", "max", "log", "scale", "type", "q"}, "values");
    expect_distribution(param, "categorical");
    std::vector<Value> options;
    for (const YamlField& item : param["values"].items("a list")) options.push_back(read_yaml_value(item));
    return choice_of(std::move(options));
  }
  return read_range(param);
}

std::vector<Condition> read_conditions(const YamlField& field) {
  std::vector<Condition> conditions;
  const YamlMapping when(field, "a mapping such as {optimizer: sgd}");
  for (const auto& [name, place] : when.keys()) {
    Condition condition{.param = name};
    const YamlField& values = when[name];
    if (values.is_list()) {
      for (const YamlField& item : values.items("a list")) condition.values.push_back(read_yaml_value(item));
    } else {
      condition.values.push_back(read_yaml_value(values));
    }
    if (condition.values.empty()) values.expected("at least one value");
    conditions.push_back(std::move(condition));
  }
  return conditions;
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

}  // namespace

Param read_parameter(const std::string& name, const YamlField& field) {
  static const std::vector<std::string> kKeys = {
      "value", "values", "min", "max", "distribution", "log", "scale", "type", "q", "when"};
  static const KeyAdvice kAdvice = {
      {"low", "write 'min'"},
      {"high", "write 'max'"},
      {"minimum", "write 'min'"},
      {"maximum", "write 'max'"},
      {"lower", "write 'min'"},
      {"upper", "write 'max'"},
      {"choices", "write 'values'"},
      {"options", "write 'values'"},
      {"step", "write distribution: q_uniform and q, or list the values"},
      {"integer", "write type: int"},
      {"int", "write type: int"},
      {"default", "leave it out; 'try' lists configurations to train first"},
      {"probabilities", "every value is equally likely at first"},
      {"mu", "bapi searches between bounds: give min and max"},
      {"sigma", "bapi searches between bounds: give min and max"},
      {"parameters", "parameters are not nested; a name may contain dots, and 'when' makes one conditional"}};
  if (field.is_list()) {
    field.expected("{values: [...]} to choose among the values of a list, or {min: ..., max: ...} for a range");
  }
  const YamlMapping param(field, "{min: 0.1, max: 1.0}, {values: [a, b]} or {value: 3}", kKeys, kAdvice);
  Param result{.name = name, .domain = read_domain(param)};
  if (param.has("when")) result.when = read_conditions(param["when"]);
  return result;
}

Value read_yaml_value(const YamlField& field) {
  if (field.is_empty() || field.is_list() || field.is_mapping()) field.expected("a number, a word, true or false");
  const Value value = field.value();
  if (const auto* real = std::get_if<double>(&value); real && !std::isfinite(*real)) field.expected("a finite number");
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (const auto mistake = text_mistake(*text)) field.fail(*mistake);
  }
  return value;
}

Space read_parameters(const YamlField& field) {
  const YamlMapping fields(field, "a mapping such as {lr: {min: 1e-6, max: 1, log: true}}");
  if (fields.keys().empty()) field.fail("found none, expected at least one parameter");
  std::vector<Param> params;
  Mistakes mistakes(field.source());
  for (const auto& [name, place] : fields.keys()) {
    mistakes.of([&, &name = name, &place = place] {
      if (const auto mistake = param_name_mistake(name)) field.fail_at(place, *mistake);
      params.push_back(read_parameter(name, fields[name]));
      Space({Param{.name = name, .domain = params.back().domain}});  // checks its bounds
    });
  }
  mistakes.refuse();
  link_conditions(params);
  return Space(std::move(params));
}

}  // namespace bapi
