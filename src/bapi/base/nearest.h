#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bapi {

// The word of `known` that `word` was probably meant to be: fewest edits (insert, delete, replace, swap neighbours), at
// most a third of its length and at least one allowed; empty if none is that near.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace bapi
