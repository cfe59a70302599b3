#include "bapi/process/failure_text.h"

#include <fmt/format.h>

#include "bapi/base/utf8.h"

namespace bapi {

std::string failure_text(std::string_view what, std::string_view last_output) {
  if (last_output.empty()) return printable(what);
  return fmt::format("{}; the end of its output:\n{}", printable(what), printable(last_output));
}

}  // namespace bapi
