#include "bapi/studies/policy_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"

namespace bapi {
namespace {

Value value_of(const std::string& text) {
  if (const auto integer = number_in<std::int64_t>(text)) return *integer;
  if (const auto real = number_in<double>(text)) return *real;
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

ComparedPolicy parse_compared_policy(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::size_t equals = std::min(text.find('='), text.size());
  const bool labelled = equals < colon;
  const std::string policy = labelled ? text.substr(equals + 1) : text;
  const std::vector<std::string> words = split(policy, ':');
  require(!words.empty() && !words.front().empty() && equals > 0,
          fmt::format("--policies {}: expected NAME, NAME:OPTION=VALUE or LABEL=NAME:OPTION=VALUE", text));
  return {.label = labelled ? text.substr(0, equals) : text,
          .spec = parse_policy(words.front(), {words.begin() + 1, words.end()})};
}

}  // namespace bapi
