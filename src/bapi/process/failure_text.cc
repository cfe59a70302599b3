#include "bapi/process/failure_text.h"

#include <fmt/format.h>

#include "bapi/base/utf8.h"

namespace bapi {
namespace {

constexpr std::string_view kOutputFollows = "; the end of its output:";

}  // namespace

std::string failure_text(std::string_view what, std::string_view last_output) {
  if (last_output.empty()) return printable(what);
  return fmt::format("{}{}\n{}", printable(what), kOutputFollows, printable(last_output));
}

std::string failure_headline(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with(kOutputFollows)) line.remove_suffix(kOutputFollows.size());
  return std::string(line);
}

}  // namespace bapi
