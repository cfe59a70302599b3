#include "bapi/study/macros.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/nearest.h"

namespace bapi {
namespace {

bool is_known(std::string_view name, const std::vector<Param>& params) {
  return value_named<Macro>(name) ||
         std::any_of(params.begin(), params.end(), [&](const Param& param) { return param.name == name; });
}

// What to write for the macros of W&B sweeps; empty for anything else.
std::string advice_of(std::string_view name) {
  if (name == "env" || name == "interpreter") return "leave it out and name the interpreter, for example python3";
  if (name == "program") return "write the program itself, for example train.py";
  if (name == "args_json" || name == "args_json_file") return "${config} is a JSON file with the configuration";
  if (name.starts_with("args_")) return "${args} is --NAME VALUE for every parameter, ${NAME} a single value";
  if (name.starts_with("envvar:")) return "the program inherits the environment, and the key 'env' adds to it";
  return "";
}

std::optional<std::string> unknown_macro(std::string_view name, const std::vector<Param>& params) {
  if (is_known(name, params)) return std::nullopt;
  if (const std::string advice = advice_of(name); !advice.empty()) {
    return fmt::format("${{{}}} is a macro of W&B; {}", name, advice);
  }
  const std::vector<std::string_view> builtin = words<Macro>();
  std::vector<std::string> known(builtin.begin(), builtin.end());
  for (const Param& param : params) known.push_back(param.name);
  const std::string meant = nearest(std::string(name), known);
  if (!meant.empty()) return fmt::format("unknown macro ${{{}}}; did you mean ${{{}}}?", name, meant);
  return fmt::format("unknown macro ${{{}}}; expected a parameter or one of {} (there is no shell, and no environment)",
                     name,
                     fmt::join(builtin, ", "));
}

}  // namespace

std::vector<ArgumentPiece> pieces_of(std::string_view argument) {
  using Kind = ArgumentPiece::Kind;
  std::vector<ArgumentPiece> pieces;
  while (!argument.empty()) {
    const std::size_t begin = std::min(argument.find("${"), argument.size());
    if (begin > 0) pieces.push_back({Kind::text, argument.substr(0, begin)});
    argument.remove_prefix(begin);
    if (argument.empty()) break;
    const std::size_t end = argument.find('}');
    if (end == std::string_view::npos) {
      pieces.push_back({Kind::unclosed, argument});
      break;
    }
    pieces.push_back({Kind::macro, argument.substr(2, end - 2)});
    argument.remove_prefix(end + 1);
  }
  return pieces;
}

std::optional<std::string> macro_mistake(std::string_view argument, const std::vector<Param>& params) {
  for (const ArgumentPiece& piece : pieces_of(argument)) {
    if (piece.kind == ArgumentPiece::Kind::text) continue;
    if (piece.kind == ArgumentPiece::Kind::unclosed) {
      return fmt::format("'{}' is not closed, expected ${{name}}", piece.text);
    }
    if (const std::optional<std::string> mistake = unknown_macro(piece.text, params)) return mistake;
    if (piece.text == "args" && argument != "${args}") return "${args} stands for several arguments and must be alone";
  }
  return std::nullopt;
}

bool hands_over_parameters(const std::vector<std::string>& command) {
  const auto is_of_the_configuration = [](const ArgumentPiece& piece) {
    if (piece.kind != ArgumentPiece::Kind::macro) return false;
    const std::optional<Macro> macro = value_named<Macro>(piece.text);
    return !macro || *macro == Macro::args || *macro == Macro::config;
  };
  return std::any_of(command.begin(), command.end(), [&](const std::string& argument) {
    const std::vector<ArgumentPiece> pieces = pieces_of(argument);
    return std::any_of(pieces.begin(), pieces.end(), is_of_the_configuration);
  });
}

}  // namespace bapi
