#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bapi {

// The parts between separators: one more than there are separators, none for an empty text.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace bapi
