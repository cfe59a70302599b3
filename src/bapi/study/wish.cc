#include "bapi/study/wish.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"

namespace bapi {
namespace {

constexpr double kLargestWholeNumber = 9e15;  // up to here every whole number is a double

bool is_open(const Value& value) { return std::holds_alternative<std::monostate>(value); }

std::size_t place_of(const std::string& name, const Space& space) {
  const std::vector<Param>& params = space.params();
  const auto found = std::find_if(params.begin(), params.end(), [&](const Param& param) { return param.name == name; });
  if (found != params.end()) return static_cast<std::size_t>(found - params.begin());
  std::vector<std::string> names;
  for (const Param& param : params) names.push_back(param.name);
  const std::string near = nearest(name, names);
  throw InvalidInput(fmt::format("there is no parameter {}{}",
                                 name,
                                 near.empty() ? fmt::format("; the study has {}", fmt::join(names, ", "))
                                              : fmt::format("; did you mean {}?", near)));
}

// The option that looks the same: 1 is also found as 1.0 or "1".
Value option_like(const Value& value, const std::vector<Value>& options) {
  if (std::find(options.begin(), options.end(), value) != options.end()) return value;
  const auto same = std::find_if(
      options.begin(), options.end(), [&](const Value& option) { return to_text(option) == to_text(value); });
  return same == options.end() ? value : *same;
}

Value fitted(const Value& value, const Domain& domain) {
  if (const auto* choice = std::get_if<Choice>(&domain)) return option_like(value, choice->options);
  if (const auto* constant = std::get_if<Constant>(&domain)) return option_like(value, {constant->value});
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole && std::holds_alternative<RealRange>(domain)) {
    return static_cast<double>(*whole);
  }
  const auto* number = std::get_if<double>(&value);
  if (number && std::holds_alternative<IntRange>(domain) && std::floor(*number) == *number &&
      std::abs(*number) < kLargestWholeNumber) {
    return static_cast<std::int64_t>(*number);
  }
  return value;
}

std::string expected(const Domain& domain) {
  if (const auto* real = std::get_if<RealRange>(&domain)) {
    return fmt::format("a number from {} to {}", real->low, real->high);
  }
  if (const auto* whole = std::get_if<IntRange>(&domain)) {
    return fmt::format("a whole number from {} to {}", whole->low, whole->high);
  }
  std::vector<std::string> texts;
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    for (const Value& option : choice->options) texts.push_back(to_text(option));
  }
  if (const auto* constant = std::get_if<Constant>(&domain)) texts.push_back(to_text(constant->value));
  return texts.size() == 1 ? texts.front() : fmt::format("one of {}", fmt::join(texts, ", "));
}

bool allowed(const Domain& domain, const Value& value) {
  if (const auto* real = std::get_if<RealRange>(&domain)) {
    const auto* number = std::get_if<double>(&value);
    return number && *number >= real->low && *number <= real->high;
  }
  if (const auto* range = std::get_if<IntRange>(&domain)) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number && *number >= range->low && *number <= range->high;
  }
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    return std::find(choice->options.begin(), choice->options.end(), value) != choice->options.end();
  }
  return std::get<Constant>(domain).value == value;
}

// A constant has its value whether it is given or not.
const Value& known_value(const Config& config, std::size_t place, const Space& space) {
  const auto* constant = std::get_if<Constant>(&space.params()[place].domain);
  return constant ? constant->value : config.values[place];
}

bool holds(const Condition& condition, const Config& config, const Space& space) {
  const Value& parent = known_value(config, place_of(condition.param, space), space);
  return std::find(condition.values.begin(), condition.values.end(), parent) != condition.values.end();
}

std::vector<std::string> texts_of(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_text(value));
  return texts;
}

}  // namespace

Config wish_of(const NamedValues& given, const Space& space) {
  require(!given.empty(), "found no value, expected at least one, for example lr=0.1");
  Config wish{std::vector<Value>(space.params().size())};
  for (const auto& [name, value] : given) {
    const std::size_t place = place_of(name, space);
    wish.values[place] = fitted(value, space.params()[place].domain);
  }
  validate_wish(wish, space);
  return wish;
}

void validate_wish(const Config& wish, const Space& space) {
  const std::vector<Param>& params = space.params();
  require(wish.values.size() == params.size(),
          fmt::format("found {} values, the space has {} parameters", wish.values.size(), params.size()));
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (is_open(wish.values[i])) continue;
    const std::string text = to_text(wish.values[i]);
    require(allowed(params[i].domain, wish.values[i]),
            fmt::format("{}: found {}, expected {}", params[i].name, text, expected(params[i].domain)));
    for (const Condition& condition : params[i].when) {
      require(holds(condition, wish, space),
              fmt::format("{}: found {}, but it applies only where {} is {}; give that too, or leave {} out",
                          params[i].name,
                          text,
                          condition.param,
                          fmt::join(texts_of(condition.values), " or "),
                          params[i].name));
    }
  }
}

// A parameter may come before those on which it depends: as many rounds as there are parameters settle every chain.
Config completed(const Config& wish, const Config& proposal, const Space& space) {
  const std::vector<Param>& params = space.params();
  const Config middle = space.from_unit(Vector::Constant(space.unit_dim(), 0.5));
  Config whole{std::vector<Value>(params.size())};
  const auto value_for = [&](std::size_t i) {
    for (const Config* source : {&wish, &proposal, &middle}) {
      if (!is_open(source->values[i])) return source->values[i];
    }
    return Space({Param{.name = params[i].name, .domain = params[i].domain}})
        .from_unit(Vector::Constant(std::holds_alternative<Constant>(params[i].domain) ? 0 : 1, 0.5))
        .values.front();
  };
  for (std::size_t round = 0; round < params.size(); ++round) {
    const Config before = whole;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const bool applies = std::all_of(params[i].when.begin(), params[i].when.end(), [&](const Condition& condition) {
        const Value& parent = whole.values[place_of(condition.param, space)];
        return std::find(condition.values.begin(), condition.values.end(), parent) != condition.values.end();
      });
      whole.values[i] = applies ? value_for(i) : Value(std::monostate{});
    }
    if (whole == before) break;
  }
  return whole;
}

std::vector<std::string> left_open(const Config& wish, const Config& config, const Space& space) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < space.params().size(); ++i) {
    const Param& param = space.params()[i];
    if (is_open(wish.values[i]) && !is_open(config.values[i]) && !std::holds_alternative<Constant>(param.domain)) {
      names.push_back(param.name);
    }
  }
  return names;
}

std::string wish_text(const Config& wish, const Space& space) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < space.params().size() && i < wish.values.size(); ++i) {
    if (!is_open(wish.values[i])) words.push_back(space.params()[i].name + "=" + to_text(wish.values[i]));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace bapi
