#include "bapi/study/macros.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/nearest.h"

namespace bapi {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-";

std::vector<std::string> known_macros(const std::vector<Param>& params) {
  std::vector<std::string> known = builtin_macros();
  for (const Param& param : params) known.push_back(param.name);
  return known;
}

std::optional<std::string> unknown_macro(const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return std::nullopt;
  const std::string meant = nearest(name, known);
  if (!meant.empty()) return fmt::format("unknown macro ${{{}}}; did you mean ${{{}}}?", name, meant);
  return fmt::format("unknown macro ${{{}}}; expected a parameter or one of {} (there is no shell, and no environment)",
                     name,
                     fmt::join(builtin_macros(), ", "));
}

}  // namespace

const std::vector<std::string>& builtin_macros() {
  static const std::vector<std::string> kNames = {"args", "config", "trial", "dir", "checkpoint", "from", "until"};
  return kNames;
}

std::optional<std::string> macro_mistake(std::string_view argument, const std::vector<Param>& params) {
  const std::vector<std::string> known = known_macros(params);
  for (std::size_t begin = argument.find("${"); begin != std::string_view::npos;
       begin = argument.find("${", begin + 2)) {
    const std::size_t end = argument.find('}', begin);
    if (end == std::string_view::npos) {
      return fmt::format("'{}' is not closed, expected ${{name}}", argument.substr(begin));
    }
    const std::string name(argument.substr(begin + 2, end - begin - 2));
    if (const std::optional<std::string> mistake = unknown_macro(name, known)) return mistake;
    if (name == "args" && argument != "${args}") return "${args} stands for several arguments and must be alone";
  }
  return std::nullopt;
}

std::optional<std::string> param_name_mistake(std::string_view name) {
  const bool well_formed = !name.empty() && kLetters.find(name.front()) != std::string_view::npos &&
                           name.find_first_not_of(kNameCharacters) == std::string_view::npos;
  if (!well_formed) {
    return fmt::format("'{}' is no name; expected a letter, then letters, digits, '_', '-' and '.'", name);
  }
  const std::vector<std::string>& taken = builtin_macros();
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    return fmt::format("the name '{0}' is taken by the macro ${{{0}}}", name);
  }
  return std::nullopt;
}

}  // namespace bapi
