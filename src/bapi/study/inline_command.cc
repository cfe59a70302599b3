#include "bapi/study/inline_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/base/split.h"
#include "bapi/space/choice.h"
#include "bapi/study/macros.h"
#include "bapi/study/names.h"
#include "bapi/study/scalar.h"

namespace bapi {
namespace {

struct Flag {
  std::string flag;    // as the program wants it: --lr
  std::string name;    // without the dashes
  std::string domain;  // behind the tilde
};

// Only a flag directly before the tilde makes a parameter: `--out ~/x` and `--path=a~b` are plain arguments.
std::optional<Flag> flag_with_domain(const std::string& argument) {
  const std::size_t tilde = argument.find('~');
  const std::size_t name = argument.find_first_not_of('-');
  if (tilde == std::string::npos || name == 0 || name > 2 || name >= tilde) return std::nullopt;
  const Flag found = {.flag = argument.substr(0, tilde),
                      .name = argument.substr(name, tilde - name),
                      .domain = argument.substr(tilde + 1)};
  if (found.name.find('=') != std::string::npos) return std::nullopt;
  return found;
}

[[noreturn]] void fail(const Flag& flag, const std::string& message) {
  throw InvalidInput(fmt::format("{}~{}: {}", flag.flag, flag.domain, message));
}

std::vector<Value> split_values(std::string_view text) {
  std::vector<Value> values;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = text.find(',', begin);
    values.push_back(parse_scalar(trim(text.substr(begin, comma - begin))));
    if (comma == std::string_view::npos) return values;
    begin = comma + 1;
  }
}

double real_bound(const Flag& flag, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  fail(flag, fmt::format("found '{}', expected a number", to_text(value)));
}

std::int64_t int_bound(const Flag& flag, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  fail(flag, fmt::format("found '{}', expected an integer", to_text(value)));
}

Domain choice(const Flag& flag, std::vector<Value> values) {
  const bool gap = std::find(values.begin(), values.end(), Value(std::monostate{})) != values.end();
  if (gap) fail(flag, "found an empty value, expected choice(a,b,...)");
  return choice_of(std::move(values));
}

Domain range(const Flag& flag, const std::string& kind, const std::vector<Value>& bounds) {
  if (bounds.size() != 2) fail(flag, fmt::format("found {} values, expected {}(min,max)", bounds.size(), kind));
  const Scale scale = kind.starts_with("log") ? Scale::log : Scale::linear;
  if (kind.ends_with("int")) {
    return IntRange{.low = int_bound(flag, bounds[0]), .high = int_bound(flag, bounds[1]), .scale = scale};
  }
  return RealRange{.low = real_bound(flag, bounds[0]), .high = real_bound(flag, bounds[1]), .scale = scale};
}

Domain call(const Flag& flag, const std::string& kind, std::vector<Value> values) {
  static const std::vector<std::string> kCalls = {"uniform", "log", "int", "logint", "choice"};
  if (kind == "choice") return choice(flag, std::move(values));
  if (std::find(kCalls.begin(), kCalls.end(), kind) != kCalls.end()) return range(flag, kind, values);
  const std::string meant = nearest(kind, kCalls);
  fail(flag,
       fmt::format("unknown domain '{}', expected {}",
                   kind,
                   meant.empty() ? fmt::format("one of {}, or a value", fmt::join(kCalls, ", ")) : meant));
}

Domain parse_domain(const Flag& flag) {
  const std::string_view text = trim(flag.domain);
  if (const auto mistake = text_mistake(text)) fail(flag, *mistake);
  const std::size_t open = text.find('(');
  if (open != std::string_view::npos && text.ends_with(')')) {
    return call(flag, std::string(text.substr(0, open)), split_values(text.substr(open + 1, text.size() - open - 2)));
  }
  if (open != std::string_view::npos) fail(flag, "the parenthesis is not closed");
  if (text.empty()) fail(flag, "found nothing behind '~', expected a domain such as log(1e-5,1) or a value");
  return Constant{parse_scalar(text)};
}

void add_param(const Flag& flag, InlineCommand& result) {
  if (const auto mistake = param_name_mistake(flag.name)) fail(flag, *mistake);
  for (const Param& param : result.params) {
    if (param.name == flag.name) fail(flag, fmt::format("parameter '{}' is given twice", flag.name));
  }
  result.params.push_back({.name = flag.name, .domain = parse_domain(flag)});
  result.command.push_back(flag.flag);
  result.command.push_back(fmt::format("${{{}}}", flag.name));
}

}  // namespace

InlineCommand parse_inline_command(std::span<const std::string> arguments) {
  require(!arguments.empty(), "found no command, expected one behind --, for example: -- ./train --lr~'log(1e-5,1)'");
  InlineCommand result;
  for (const std::string& argument : arguments) {
    if (const std::optional<Flag> flag = flag_with_domain(argument)) {
      add_param(*flag, result);
    } else {
      result.command.push_back(argument);
    }
  }
  for (const std::string& argument : result.command) {
    const std::optional<std::string> mistake = macro_mistake(argument, result.params);
    require(!mistake, fmt::format("{}: {}", argument, mistake.value_or("")));
  }
  return result;
}

}  // namespace bapi
