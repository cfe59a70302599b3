#include "bapi/cli/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bapi/base/file.h"
#include "bapi/base/utf8.h"

namespace bapi {

std::string log_tail(const std::filesystem::path& file, int lines) {
  constexpr off_t kMostBytes = 1 << 20;
  const FileDescriptor in = open_regular(file, O_RDONLY);
  if (!in) return errno == ENOENT ? "" : why_not("read", file, errno) + "\n";
  struct stat status = {};
  if (::fstat(in.get(), &status) != 0) return why_not("read", file, errno) + "\n";
  std::string text(static_cast<std::size_t>(std::min(status.st_size, kMostBytes)), '\0');
  const ssize_t got = ::pread(in.get(), text.data(), text.size(), status.st_size - std::ssize(text));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (!text.empty() && text.back() != '\n') text += '\n';

  std::size_t begin = text.size();
  for (int found = 0; begin > 0 && found <= lines; --begin) {
    if (text[begin - 1] == '\n' && ++found > lines) break;
  }
  return visible(text.substr(begin));
}

}  // namespace bapi
