#pragma once

#include <string>
#include <string_view>

namespace bapi {

// What is kept of a failed trial: what happened, then the end of its output, if any.
std::string failure_text(std::string_view what, std::string_view last_output);

// What happened, on one line, of such a text or of any other message.
std::string failure_headline(std::string_view text);

}  // namespace bapi
