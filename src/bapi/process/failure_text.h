#pragma once

#include <string>
#include <string_view>

namespace bapi {

// The text as it can be stored and shown: bytes that are neither UTF-8 nor a line break or tab become '?'.
std::string printable(std::string_view text);

// What is kept of a failed trial: what happened, then the end of its output, if any.
std::string failure_text(std::string_view what, std::string_view last_output);

}  // namespace bapi
