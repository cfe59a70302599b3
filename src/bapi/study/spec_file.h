#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bapi/study/spec.h"

namespace bapi {

// The study file: YAML text to StudySpec. `file` is its name for messages; the study is called after it unless the text
// has a name. Throws InvalidInput with file:line:column, what was found and what was expected; an unknown key is an
// error that names the nearest known one.
StudySpec parse_study_file(std::string_view text, const std::string& file);
StudySpec read_study_file(const std::string& path);

// The inline form: `bapi run --budget 30m --epochs 50 --metric accuracy -- ./train --lr~'log(1e-5,1)'`.
// Arguments of the form --name~domain become parameters, and the command gets `--name ${name}` in their place.
// Domains: log(a,b)  uniform(a,b)  int(a,b)  logint(a,b)  choice(a,b,...)  and a plain value for a constant.
struct InlineCommand {
  std::vector<std::string> command;
  std::vector<Param> params;
};
InlineCommand parse_inline_command(std::span<const std::string> arguments);

// "30m", "90s", "2h", "1h30m", "45" -> seconds. `where` begins the message on error.
double parse_duration(std::string_view text, const std::string& where);

// "30m", "500 epochs", "12 usd" -> budget. Units that bapi cannot measure are reported by the program.
BudgetSpec parse_budget(std::string_view text, const std::string& where);

}  // namespace bapi
