#pragma once

#include <string>
#include <string_view>

namespace bapi {

// What is kept of a failed trial: what happened, then the end of its output, if any.
std::string failure_text(std::string_view what, std::string_view last_output);

}  // namespace bapi
