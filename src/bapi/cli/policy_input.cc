#include "bapi/cli/policy_input.h"

#include <fmt/format.h>

#include <charconv>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"

namespace bapi {
namespace {

template <typename Number>
bool parse(const std::string& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Value value_of(const std::string& text) {
  std::int64_t integer = 0;
  double real = 0.0;
  if (parse(text, integer)) return integer;
  if (parse(text, real)) return real;
  return text;
}

}  // namespace

PolicySpec parse_policy(const std::string& name, const std::vector<std::string>& options) {
  PolicySpec spec{.name = name, .options = {}};
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    require(equals != std::string::npos && equals > 0, fmt::format("--option {}: expected name=value", option));
    spec.options[option.substr(0, equals)] = value_of(option.substr(equals + 1));
  }
  return spec;
}

Decision TimedPolicy::ask(const History& history, Rng& rng) {
  const SystemClock clock;
  const double start = clock.now();
  Decision decision = policy_.ask(history, rng);
  seconds_ += clock.now() - start;
  return decision;
}

}  // namespace bapi
