#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bapi {

// The parts between separators: one more than there are separators, none for an empty text.
std::vector<std::string> split(std::string_view text, char separator);

// Without the spaces and tabs around it.
std::string_view trim(std::string_view text);

}  // namespace bapi
