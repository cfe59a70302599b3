#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/space/space.h"

namespace bapi {

// The ${names} that a command may contain besides those of its parameters.
const std::vector<std::string>& builtin_macros();

// What is wrong with the macros of an argument, for a message: a name that is neither a parameter nor built in, or a
// brace that is not closed. nullopt if all is well.
std::optional<std::string> macro_mistake(std::string_view argument, const std::vector<Param>& params);

// What is wrong with the name of a parameter: names become macros, flags, JSON keys and columns. nullopt if it is fine.
std::optional<std::string> param_name_mistake(std::string_view name);

}  // namespace bapi
