#include "bapi/process/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"
#include "bapi/process/gpus.h"
#include "bapi/study/macros.h"

namespace bapi {
namespace {

constexpr std::string_view kArgs = "${args}";

using Macros = std::map<std::string, std::string, std::less<>>;

std::string value_of(Macro macro, const Assignment& assignment) {
  switch (macro) {
    case Macro::config:
      return assignment.dir.config().string();
    case Macro::trial:
      return std::to_string(index(assignment.segment.trial));
    case Macro::dir:
      return assignment.dir.root.string();
    case Macro::checkpoint:
      return assignment.dir.checkpoint().string();
    case Macro::from:
      return std::to_string(assignment.from);
    case Macro::until:
      return std::to_string(assignment.segment.until);
    case Macro::args:
      break;
  }
  throw LogicError("command: ${args} stands for several arguments");
}

Macros macros_of(const StudySpec& spec, const Assignment& assignment) {
  const Segment& segment = assignment.segment;
  Macros macros;
  for (const Name<Macro>& macro : names<Macro>.entries) {
    if (macro.value != Macro::args) macros.emplace(macro.word, value_of(macro.value, assignment));
  }
  for (std::size_t i = 0; i < spec.space.params().size(); ++i) {
    macros.insert_or_assign(spec.space.params()[i].name, to_text(segment.config.values.at(i)));
  }
  return macros;
}

std::string expand(std::string_view argument, const Macros& macros) {
  std::string expanded;
  for (const ArgumentPiece& piece : pieces_of(argument)) {
    if (piece.kind == ArgumentPiece::Kind::text) {
      expanded += piece.text;
      continue;
    }
    require(piece.kind == ArgumentPiece::Kind::macro, fmt::format("command: '{}' has a ${{ without a }}", argument));
    const auto macro = macros.find(piece.text);
    require(macro != macros.end(),
            fmt::format("command: ${{{}}} is neither a parameter nor a macro{}",
                        piece.text,
                        piece.text == "args" ? " inside an argument; it must be one of its own" : ""));
    expanded += macro->second;
  }
  return expanded;
}

void append_flags(const Space& space, const Config& config, std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < space.params().size(); ++i) {
    if (std::holds_alternative<std::monostate>(config.values.at(i))) continue;
    arguments.push_back("--" + space.params()[i].name);
    arguments.push_back(to_text(config.values.at(i)));
  }
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

// What a process that works on a study in a database has, and libpq's own variables: address, user and password.
constexpr std::string_view kStorageVariable = "BAPI_STORAGE";
bool opens_the_database(std::string_view name) { return name == kStorageVariable || name.starts_with("PG"); }

}  // namespace

std::vector<std::string> expand_command(const StudySpec& spec, const Assignment& assignment) {
  const Macros macros = macros_of(spec, assignment);
  std::vector<std::string> arguments;
  for (const std::string& argument : spec.command) {
    if (argument == kArgs) {
      append_flags(spec.space, assignment.segment.config, arguments);
    } else {
      arguments.push_back(expand(argument, macros));
    }
  }
  return arguments;
}

std::vector<std::string> training_environment(const StudySpec& spec,
                                              const Assignment& assignment,
                                              const std::vector<std::string>& inherited) {
  const Segment& segment = assignment.segment;
  Macros variables;
  const bool in_database =
      std::ranges::any_of(inherited, [](const std::string& v) { return name_of(v) == kStorageVariable; });
  for (const std::string& variable : inherited) {
    if (in_database && opens_the_database(name_of(variable))) continue;
    variables.insert_or_assign(std::string(name_of(variable)),
                               variable.substr(std::min(variable.size(), name_of(variable).size() + 1)));
  }
  // Reports that a Python program prints must arrive when they are made, not when a buffer is full.
  variables.try_emplace("PYTHONUNBUFFERED", "1");
  for (const auto& [name, value] : spec.env) variables.insert_or_assign(name, value);
  const auto tell = [&](const char* name, std::string value) { variables.insert_or_assign(name, std::move(value)); };
  for (const auto& [name, value] : worker_environment(assignment.worker, assignment.gpus)) tell(name.c_str(), value);
  tell("BAPI_TRIAL", std::to_string(index(segment.trial)));
  tell("BAPI_METRIC", spec.metric.name);
  tell("BAPI_CONFIG", assignment.dir.config().string());
  tell("BAPI_DIR", assignment.dir.root.string());
  tell("BAPI_CHECKPOINT_DIR", assignment.dir.checkpoint().string());
  tell("BAPI_REPORT", assignment.dir.report().string());
  tell("BAPI_FROM_EPOCH", std::to_string(assignment.from));
  tell("BAPI_UNTIL_EPOCH", std::to_string(segment.until));
  tell("BAPI_MAX_EPOCH", std::to_string(segment.max_epoch));
  tell("BAPI_SEED", std::to_string(trial_seed(spec, segment.trial)));
  tell("BAPI_BUDGET_LEFT", fmt::format("{}", segment.budget_left));
  const std::string mark(name_of(assignment.mark));
  if (!mark.empty()) variables.insert_or_assign(mark, assignment.mark.substr(mark.size() + 1));
  variables.erase("BAPI_DEADLINE");
  if (assignment.deadline) tell("BAPI_DEADLINE", fmt::format("{:.3f}", *assignment.deadline));

  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

std::uint64_t trial_seed(const StudySpec& spec, TrialId trial) {
  return Rng(spec.seed).fork("trial", static_cast<std::uint64_t>(index(trial))).bits() >> 33U;
}

}  // namespace bapi
