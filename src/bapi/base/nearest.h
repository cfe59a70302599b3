#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bapi {

// The known name that `word` was probably meant to be, for messages about unknown names; empty if none is near. Counts
// letters that are wrong, missing, too many or swapped with their neighbour, regardless of case; one letter in three
// may be off, and one in a shorter word, but never all. A name that begins with `word` (three letters or more) is near.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace bapi
