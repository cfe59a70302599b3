#include "bapi/cli/log_tail.h"

#include <algorithm>
#include <fstream>

#include "bapi/base/utf8.h"

namespace bapi {

std::string log_tail(const std::filesystem::path& file, int lines) {
  constexpr std::streamoff kMostBytes = 1 << 20;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const std::streamoff size = in.tellg();
  const std::streamoff length = std::min(size, kMostBytes);
  in.seekg(size - length);
  std::string text(static_cast<std::size_t>(length), '\0');
  in.read(text.data(), length);
  if (!text.empty() && text.back() != '\n') text += '\n';

  std::size_t begin = text.size();
  for (int found = 0; begin > 0 && found <= lines; --begin) {
    if (text[begin - 1] == '\n' && ++found > lines) break;
  }
  return visible(text.substr(begin));
}

}  // namespace bapi
