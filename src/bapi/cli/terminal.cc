#include "bapi/cli/terminal.h"

#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <utility>

#include "bapi/base/utf8.h"

namespace bapi {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool locale_is_utf8() {
  std::setlocale(LC_CTYPE, "");  // nothing else: numbers are written with a point everywhere
  return std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kAscii = {{{"▁", "_"},
                                                                                   {"▂", "."},
                                                                                   {"▃", ":"},
                                                                                   {"▄", "-"},
                                                                                   {"▅", "="},
                                                                                   {"▆", "+"},
                                                                                   {"▇", "*"},
                                                                                   {"█", "#"},
                                                                                   {"░", "."},
                                                                                   {"·", "-"},
                                                                                   {"…", "~"},
                                                                                   {"✗", "x"},
                                                                                   {"│", "|"},
                                                                                   {"±", "+-"}}};

}  // namespace

bool can_redraw() { return isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb" && !variable("TERM").empty(); }

TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

TerminalStyle terminal_style() {
  const bool color = can_redraw() && variable("NO_COLOR").empty();
  return {.color = color ? Color::on : Color::off, .glyphs = locale_is_utf8() ? Glyphs::unicode : Glyphs::ascii};
}

std::string in_ascii(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, code_point_length(text, i));
    const std::string_view point = text.substr(i, length);
    const auto known =
        std::find_if(kAscii.begin(), kAscii.end(), [&](const auto& pair) { return pair.first == point; });
    out += known != kAscii.end() ? known->second : static_cast<unsigned char>(point[0]) < 0x80 ? point : "?";
    i += length;
  }
  return out;
}

// Nobody who stops reading (Ctrl-S, a pager, a full pipe) may hold up a study: after a while the text is left out, and
// so is all that follows until there is room again.
void write_error(std::string_view text) {
  constexpr int kPatience = 1000;        // milliseconds
  constexpr std::size_t kAtOnce = 4096;  // PIPE_BUF: fits into a pipe that has room
  static std::atomic<bool> nobody_reads = false;
  while (!text.empty()) {
    pollfd output{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    nobody_reads = poll(&output, 1, nobody_reads ? 0 : kPatience) <= 0;
    if (nobody_reads) return;
    const ssize_t written = write(STDERR_FILENO, text.data(), std::min(kAtOnce, text.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // a closed terminal must not end a study
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace bapi
