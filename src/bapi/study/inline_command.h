#pragma once

#include <span>
#include <string>
#include <vector>

#include "bapi/space/space.h"

namespace bapi {

// The inline form: `bapi run --budget 30m --epochs 50 --metric accuracy -- ./train --lr~'log(1e-5,1)'`.
// Arguments of the form --name~domain become parameters, and the command gets `--name ${name}` in their place.
// Domains: log(a,b)  uniform(a,b)  int(a,b)  logint(a,b)  choice(a,b,...)  and a plain value for a constant.
// Throws InvalidInput that quotes the argument.
struct InlineCommand {
  std::vector<std::string> command;
  std::vector<Param> params;
  bool operator==(const InlineCommand&) const = default;
};
InlineCommand parse_inline_command(std::span<const std::string> arguments);

}  // namespace bapi
