#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/space/space.h"

namespace bapi {

// The ${names} that a command may contain besides those of its parameters; docs/training.md says what each stands for.
enum class Macro { args, config, trial, dir, checkpoint, from, until };
template <>
inline constexpr auto names<Macro> = NameTable{Name{Macro::args, "args"},
                                               Name{Macro::config, "config"},
                                               Name{Macro::trial, "trial"},
                                               Name{Macro::dir, "dir"},
                                               Name{Macro::checkpoint, "checkpoint"},
                                               Name{Macro::from, "from"},
                                               Name{Macro::until, "until"}};

// A piece of an argument: "--lr=${lr}" is the text "--lr=" and the macro "lr".
struct ArgumentPiece {
  enum class Kind { text, macro, unclosed };  // unclosed: "${" without a brace behind it, to the end
  Kind kind = Kind::text;
  std::string_view text = {};  // part of the argument; of a macro the name alone
  bool operator==(const ArgumentPiece&) const = default;
};

// The pieces in their order, none of the texts empty.
std::vector<ArgumentPiece> pieces_of(std::string_view argument);

// What is wrong with the macros of an argument, for a message: a name that is neither a parameter nor built in, or a
// brace that is not closed. nullopt if all is well.
std::optional<std::string> macro_mistake(std::string_view argument, const std::vector<Param>& params);

// Whether the command has anything of the configuration in it: ${args}, ${config} or a parameter. A program without
// them can still read the file that BAPI_CONFIG names.
bool hands_over_parameters(const std::vector<std::string>& command);

}  // namespace bapi
