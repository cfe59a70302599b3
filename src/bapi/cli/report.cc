#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"

namespace bapi {

namespace {

// JSON of a word: a number, true, false, else a string. NaN and infinities keep Python's names, which bapi reads: a
// diverged training should say so.
std::string json_of(const std::string& word) {
  if (word == "true" || word == "false") return word;
  const auto number = number_in<double>(std::string_view(word).substr(word.starts_with('+') ? 1 : 0));
  if (!number) return to_json(Cell(word));
  if (std::isnan(*number)) return "NaN";
  if (std::isinf(*number)) return *number > 0.0 ? "Infinity" : "-Infinity";
  return to_json(Cell(*number));
}

std::string line_of(const std::vector<std::string>& words) {
  std::string fields;
  bool is_report = false;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    require(equals != std::string::npos && equals > 0,
            fmt::format("{}: expected NAME=VALUE, for example epoch=3 accuracy=0.91", word));
    const std::string name = word.substr(0, equals);
    if (name == "epoch" || name == "ready") is_report = true;
    if (!fields.empty()) fields += ", ";
    fields += to_json(Cell(name)) + ": " + json_of(word.substr(equals + 1));
  }
  require(is_report, "epoch=N is missing, for example epoch=3 accuracy=0.91");
  return "{" + fields + "}\n";
}

// One write to a file opened for appending: lines of several processes never mix.
void append_line(const char* path, const std::string& line) {
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const bool written = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int reason = errno;
  if (file >= 0) close(file);
  if (!written) throw StoreError(fmt::format("{} (BAPI_REPORT): {}", path, std::strerror(reason)));
}

int report(const std::vector<std::string>& words) {
  const std::string line = line_of(words);
  const char* path = std::getenv("BAPI_REPORT");
  if (path && *path != '\0') {
    append_line(path, line);
    return kDone;
  }
  print(line);
  note("BAPI_REPORT is not set, so this is not running under bapi; printed the report instead");
  return kDone;
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .summary = "Report an epoch from inside a training program",
          .examples =
              "Examples:\n"
              "  bapi report epoch=3 accuracy=0.91\n"
              "  bapi report epoch=3 loss=nan cost=0.02\n"
              "  bapi report ready=true          start-up ends here, training begins\n\n"
              "Appends a JSON line to the file named by BAPI_REPORT. If the program was not started by bapi, prints "
              "the\nline instead.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto words = std::make_shared<std::vector<std::string>>();
            arguments.positionals("NAME=VALUE", *words, "The epoch, the metric and, if needed, the cost");
            return [words] { return report(*words); };
          }};
}

}  // namespace bapi
