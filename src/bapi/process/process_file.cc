#include "bapi/process/process_file.h"

#include <fmt/format.h>

#include <sstream>

#include "bapi/base/file.h"

namespace bapi {
namespace {

template <typename Number>
bool take(std::istream& in, const std::string& name, Number& value) {
  std::string found;
  return in >> found >> value && found == name;
}

}  // namespace

// The last line tells a whole file from a torn one.
void write_process_file(const std::filesystem::path& file, const ProcessFile& content) {
  replace_file(file,
               fmt::format("pid {}\nstart-ticks {}\nboot {}\nstarted-at {}\nspent-before {}\nrecorded {}\nfrom {}\n"
                           "until {}\nmax-epoch {}\nreport-offset {}\nlog-offset {}\nend 1\n",
                           content.identity.pid,
                           content.identity.start_ticks,
                           content.identity.boot,
                           content.started_at,
                           content.spent_before,
                           content.recorded,
                           content.from,
                           content.until,
                           content.max_epoch,
                           content.report_offset,
                           content.log_offset));
}

std::optional<ProcessFile> read_process_file(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_whole_file(file);
  if (!text) return std::nullopt;
  std::istringstream in(*text);
  ProcessFile content;
  int end = 0;
  const bool whole = take(in, "pid", content.identity.pid) && take(in, "start-ticks", content.identity.start_ticks) &&
                     take(in, "boot", content.identity.boot) && take(in, "started-at", content.started_at) &&
                     take(in, "spent-before", content.spent_before) && take(in, "recorded", content.recorded) &&
                     take(in, "from", content.from) && take(in, "until", content.until) &&
                     take(in, "max-epoch", content.max_epoch) && take(in, "report-offset", content.report_offset) &&
                     take(in, "log-offset", content.log_offset) && take(in, "end", end);
  if (!whole) return std::nullopt;
  return content;
}

}  // namespace bapi
