#include "bapi/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

namespace bapi {
namespace {

// Integers and options are widened by just under half a step on both sides, so that each owns a cell of equal width.
constexpr double kHalfCell = 0.49999;

double warp(double value, Scale scale) {
  switch (scale) {
    case Scale::linear:
      return value;
    case Scale::log:
      return std::log(value);
    case Scale::log_complement:
      return std::log1p(-value);
  }
  throw LogicError("warp: unknown scale");
}

double unwarp(double warped, Scale scale) {
  switch (scale) {
    case Scale::linear:
      return warped;
    case Scale::log:
      return std::exp(warped);
    case Scale::log_complement:
      return -std::expm1(warped);
  }
  throw LogicError("unwarp: unknown scale");
}

double to_unit_interval(double value, double low, double high, Scale scale) {
  const double a = warp(low, scale);
  return std::clamp((warp(value, scale) - a) / (warp(high, scale) - a), 0.0, 1.0);
}

double from_unit_interval(double u, double low, double high, Scale scale) {
  if (u <= 0.0) return low;
  if (u >= 1.0) return high;
  const double a = warp(low, scale);
  return std::clamp(unwarp(a + u * (warp(high, scale) - a), scale), low, high);
}

struct Cells {
  double low;
  double high;
};

// A log range of integers starts at 0.50001 rather than below zero, which the positive lower bound ensures.
Cells cells(const IntRange& range) {
  return {static_cast<double>(range.low) - kHalfCell, static_cast<double>(range.high) + kHalfCell};
}

std::int64_t options(const Choice& choice) { return std::ssize(choice.options); }

IntRange as_indices(const Choice& choice) { return {.low = 0, .high = options(choice) - 1}; }

double unit_of(std::int64_t value, const IntRange& range) {
  if (range.low == range.high) return 0.5;
  const Cells c = cells(range);
  return to_unit_interval(static_cast<double>(value), c.low, c.high, range.scale);
}

std::int64_t int_of(double u, const IntRange& range) {
  if (range.low == range.high) return range.low;
  const Cells c = cells(range);
  const double value = std::round(from_unit_interval(u, c.low, c.high, range.scale));
  return std::clamp(static_cast<std::int64_t>(value), range.low, range.high);
}

std::int64_t option_index(const Value& value, const Choice& choice) {
  const auto found = std::find(choice.options.begin(), choice.options.end(), value);
  check(found != choice.options.end(), "a value is not among the options of its parameter");
  return found - choice.options.begin();
}

bool varies(const Domain& domain) { return !std::holds_alternative<Constant>(domain); }

int encoded_columns(const Domain& domain) {
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    return choice->order == Choice::Order::ordered ? 1 : static_cast<int>(options(*choice));
  }
  return varies(domain) ? 1 : 0;
}

Value value_at(double u, const Domain& domain) {
  return std::visit(
      Match{[&](const RealRange& r) { return Value(from_unit_interval(u, r.low, r.high, r.scale)); },
            [&](const IntRange& r) { return Value(int_of(u, r)); },
            [&](const Choice& c) { return c.options[static_cast<std::size_t>(int_of(u, as_indices(c)))]; },
            [](const Constant& c) { return c.value; }},
      domain);
}

double unit_at(const Value& value, const Domain& domain) {
  return std::visit(
      Match{[&](const RealRange& r) { return to_unit_interval(std::get<double>(value), r.low, r.high, r.scale); },
            [&](const IntRange& r) { return unit_of(std::get<std::int64_t>(value), r); },
            [&](const Choice& c) { return unit_of(option_index(value, c), as_indices(c)); },
            [](const Constant&) { return 0.5; }},
      domain);
}

void validate_range(const std::string& name, double low, double high, Scale scale) {
  require(std::isfinite(low) && std::isfinite(high),
          fmt::format("parameters.{}: min = {}, max = {}; both must be finite", name, low, high));
  require(scale != Scale::log || low > 0.0,
          fmt::format("parameters.{}: min = {} with a log scale, must be positive", name, low));
  require(scale != Scale::log_complement || high < 1.0,
          fmt::format("parameters.{}: max = {} with a log1m scale, must be below 1", name, high));
}

// The first value that stands a second time, or nullptr.
const Value* repeated(const std::vector<Value>& values) {
  std::unordered_set<Value> seen;
  for (const Value& value : values) {
    if (!seen.insert(value).second) return &value;
  }
  return nullptr;
}

void validate_domain(const std::string& name, const Domain& domain) {
  std::visit(
      Match{[&](const RealRange& r) {
              validate_range(name, r.low, r.high, r.scale);
              require(r.low < r.high,
                      fmt::format("parameters.{}: min = {} is not below max = {}", name, r.low, r.high));
            },
            [&](const IntRange& r) {
              validate_range(name, static_cast<double>(r.low), static_cast<double>(r.high), r.scale);
              require(r.low <= r.high, fmt::format("parameters.{}: min = {} is above max = {}", name, r.low, r.high));
            },
            [&](const Choice& c) {
              require(!c.options.empty(), fmt::format("parameters.{}: values is an empty list", name));
              if (const Value* twice = repeated(c.options)) {
                throw InvalidInput(fmt::format("parameters.{}: value {} is listed twice", name, to_text(*twice)));
              }
            },
            [](const Constant&) {}},
      domain);
}

bool allows(const Domain& domain, const Value& value) {
  return std::visit(
      Match{[&](const RealRange& r) {
              const auto* v = std::get_if<double>(&value);
              return v && *v >= r.low && *v <= r.high;
            },
            [&](const IntRange& r) {
              const auto* v = std::get_if<std::int64_t>(&value);
              return v && *v >= r.low && *v <= r.high;
            },
            [&](const Choice& c) { return std::find(c.options.begin(), c.options.end(), value) != c.options.end(); },
            [&](const Constant& c) { return c.value == value; }},
      domain);
}

// What a parameter can be set to, if that are at most `limit` values.
std::optional<std::vector<Value>> values_of(const Domain& domain, std::size_t limit) {
  std::vector<Value> values;
  if (std::holds_alternative<RealRange>(domain)) return std::nullopt;
  if (const auto* range = std::get_if<IntRange>(&domain)) {
    const auto steps = static_cast<std::uint64_t>(range->high) - static_cast<std::uint64_t>(range->low);
    if (steps >= limit) return std::nullopt;
    for (std::uint64_t i = 0; i <= steps; ++i) values.emplace_back(range->low + static_cast<std::int64_t>(i));
  }
  if (const auto* choice = std::get_if<Choice>(&domain)) values = choice->options;
  if (const auto* constant = std::get_if<Constant>(&domain)) values = {constant->value};
  if (values.size() > limit) return std::nullopt;
  return values;
}

std::size_t index_of(const std::vector<Param>& params, const std::string& name) {
  const auto found = std::find_if(params.begin(), params.end(), [&](const Param& p) { return p.name == name; });
  return static_cast<std::size_t>(found - params.begin());
}

// Every parameter after those it depends on, otherwise in the given order. Throws on a circle.
std::vector<std::size_t> dependency_order(const std::vector<Param>& params) {
  std::vector<std::size_t> order;
  std::vector<bool> placed(params.size(), false);
  while (order.size() < params.size()) {
    const std::size_t before = order.size();
    for (std::size_t i = 0; i < params.size(); ++i) {
      const bool ready = std::all_of(params[i].when.begin(), params[i].when.end(), [&](const Condition& c) {
        return placed[index_of(params, c.param)];
      });
      if (placed[i] || !ready) continue;
      placed[i] = true;
      order.push_back(i);
    }
    if (order.size() == before) {
      const auto stuck = std::find(placed.begin(), placed.end(), false) - placed.begin();
      throw InvalidInput(
          fmt::format("parameters.{}: its conditions form a circle", params[static_cast<std::size_t>(stuck)].name));
    }
  }
  return order;
}

void validate_conditions(const std::vector<Param>& params) {
  for (const Param& param : params) {
    for (const Condition& condition : param.when) {
      const std::size_t parent = index_of(params, condition.param);
      require(parent < params.size(),
              fmt::format("parameters.{}.when: there is no parameter {}", param.name, condition.param));
      require(!condition.values.empty(),
              fmt::format("parameters.{}.when.{}: expected at least one value", param.name, condition.param));
      for (const Value& value : condition.values) {
        require(allows(params[parent].domain, value),
                fmt::format("parameters.{}.when.{}: {} is not a value that {} can have",
                            param.name,
                            condition.param,
                            to_text(value),
                            condition.param));
      }
    }
  }
}

}  // namespace

std::string to_text(const Value& value) {
  return std::visit(Match{[](std::monostate) { return std::string(); },
                          [](bool v) { return std::string(v ? "true" : "false"); },
                          [](std::int64_t v) { return fmt::format("{}", v); },
                          [](double v) { return fmt::format("{}", v); },
                          [](const std::string& v) { return v; }},
                    value);
}

Space::Space(std::vector<Param> params) : params_(std::move(params)) {
  require(!params_.empty(), "parameters: expected at least one parameter");
  std::unordered_set<std::string> names;
  for (const Param& param : params_) {
    require(!param.name.empty(), "parameters: a parameter has an empty name");
    require(names.insert(param.name).second, fmt::format("parameters.{}: the name is used twice", param.name));
    validate_domain(param.name, param.domain);
    unit_dim_ += varies(param.domain) ? 1 : 0;
    encoded_dim_ += encoded_columns(param.domain);
  }
  validate_conditions(params_);
  order_ = dependency_order(params_);
}

bool Space::applies(std::size_t param, const Config& config) const {
  return std::all_of(params_[param].when.begin(), params_[param].when.end(), [&](const Condition& condition) {
    const Value& parent = config.values[index_of(params_, condition.param)];
    return std::find(condition.values.begin(), condition.values.end(), parent) != condition.values.end();
  });
}

Config Space::from_unit(const Vector& u) const {
  check(u.size() == unit_dim_, "Space::from_unit: wrong number of coordinates");
  std::vector<Eigen::Index> column(params_.size(), 0);
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    column[i] = next;
    next += varies(params_[i].domain) ? 1 : 0;
  }
  Config config{std::vector<Value>(params_.size())};
  for (const std::size_t i : order_) {
    if (!applies(i, config)) continue;
    config.values[i] = value_at(varies(params_[i].domain) ? u[column[i]] : 0.5, params_[i].domain);
  }
  return config;
}

Vector Space::to_unit(const Config& config) const {
  Vector u(unit_dim_);
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (!varies(params_[i].domain)) continue;
    const Value& value = config.values[i];
    u[next++] = std::holds_alternative<std::monostate>(value) ? 0.5 : unit_at(value, params_[i].domain);
  }
  return u;
}

Vector Space::encode(const Config& config) const {
  check(config.values.size() == params_.size(), "Space::encode: the configuration belongs to another space");
  Vector x(encoded_dim_);
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const Domain& domain = params_[i].domain;
    const Eigen::Index columns = encoded_columns(domain);
    const Value& value = config.values[i];
    if (columns == 0) continue;
    if (const auto* choice = std::get_if<Choice>(&domain); choice && choice->order == Choice::Order::unordered) {
      if (std::holds_alternative<std::monostate>(value)) {
        x.segment(next, columns).setConstant(1.0 / static_cast<double>(columns));
      } else {
        x.segment(next, columns).setZero();
        x[next + option_index(value, *choice)] = 1.0;
      }
    } else {
      x[next] = std::holds_alternative<std::monostate>(value) ? 0.5 : unit_at(value, domain);
    }
    next += columns;
  }
  return x;
}

Config Space::decode(const Vector& x) const {
  check(x.size() == encoded_dim_, "Space::decode: wrong number of coordinates");
  std::vector<Eigen::Index> column(params_.size(), 0);
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    column[i] = next;
    next += encoded_columns(params_[i].domain);
  }
  Config config{std::vector<Value>(params_.size())};
  for (const std::size_t i : order_) {
    if (!applies(i, config)) continue;
    const Domain& domain = params_[i].domain;
    if (const auto* choice = std::get_if<Choice>(&domain); choice && choice->order == Choice::Order::unordered) {
      Eigen::Index best = 0;
      x.segment(column[i], encoded_columns(domain)).maxCoeff(&best);
      config.values[i] = choice->options[static_cast<std::size_t>(best)];
    } else {
      config.values[i] = value_at(varies(domain) ? x[column[i]] : 0.5, domain);
    }
  }
  return config;
}

Config Space::sample(Rng& rng) const {
  Vector u(unit_dim_);
  for (double& coordinate : u) coordinate = rng.uniform();
  return from_unit(u);
}

std::optional<std::vector<Config>> Space::all(std::size_t limit) const {
  std::vector<Config> configs = {{std::vector<Value>(params_.size())}};
  for (const std::size_t i : order_) {
    const std::optional<std::vector<Value>> values = values_of(params_[i].domain, limit);
    std::vector<Config> longer;
    for (const Config& config : configs) {
      if (!applies(i, config)) {
        longer.push_back(config);
      } else if (!values) {
        return std::nullopt;
      } else {
        for (const Value& value : *values) {
          longer.push_back(config);
          longer.back().values[i] = value;
        }
      }
      if (longer.size() > limit) return std::nullopt;
    }
    configs = std::move(longer);
  }
  return configs;
}

void Space::validate(const Config& config) const {
  require(
      config.values.size() == params_.size(),
      fmt::format("a configuration has {} values, the space has {} parameters", config.values.size(), params_.size()));
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const bool given = !std::holds_alternative<std::monostate>(config.values[i]);
    if (!applies(i, config)) {
      require(!given,
              fmt::format("{} = {}, but its condition does not hold", params_[i].name, to_text(config.values[i])));
      continue;
    }
    require(given && allows(params_[i].domain, config.values[i]),
            fmt::format("{} = {} is not a value that it can have",
                        params_[i].name,
                        given ? to_text(config.values[i]) : "(nothing)"));
  }
}

}  // namespace bapi
