#include "bapi/process/process_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "bapi/base/file.h"

namespace bapi {
namespace {

constexpr std::size_t kMaxBytes = 64 * 1024;
constexpr double kMostSeconds = 9'999'999'999.0;  // what the fixed width holds

// FNV-1a: tells a damaged file from a whole one.
std::uint32_t checksum(std::string_view text) {
  std::uint32_t sum = 2166136261U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return sum;
}

std::string body_of(const ProcessFile& content) {
  return fmt::format(
      "pid {}\nstart-ticks {}\nboot {}\nmark {}\nguardian {} {}\nspent-before {}\nrecorded {}\nfrom {}\nuntil {}\n"
      "max-epoch {}\nreport-offset {}\nlog-offset {}\ndir {}\npaid {}\ncontinued {}\n",
      content.identity.pid,
      content.identity.start_ticks,
      content.identity.boot,
      content.mark,
      content.guardian.pid,
      content.guardian.start_ticks,
      content.spent_before,
      content.recorded,
      content.from,
      content.until,
      content.max_epoch,
      content.report_offset,
      content.log_offset,
      content.dir,
      content.paid,
      content.continued ? 1 : 0);
}

// The first line, always of the same length, so that it can be written over. Its checksum binds it to the body.
std::string lived_line(double lived, std::string_view body) {
  const std::string value = fmt::format("{:017.6f}", std::clamp(lived, 0.0, kMostSeconds));
  return fmt::format("lived {} {:08x}\n", value, checksum(value + std::string(body)));
}

template <typename Number>
bool take(std::istream& in, std::string_view name, Number& value) {
  std::string found;
  return in >> found >> value && found == name;
}

bool take_line(std::istream& in, std::string_view name, std::string& value) {
  std::string found;
  return in >> found && found == name && in.get() == ' ' && std::getline(in, value);
}

std::optional<ProcessFile> parse_body(std::string_view body) {
  std::istringstream in{std::string(body)};
  ProcessFile content;
  const bool whole = take(in, "pid", content.identity.pid) && take(in, "start-ticks", content.identity.start_ticks) &&
                     take(in, "boot", content.identity.boot) && take(in, "mark", content.mark) &&
                     take(in, "guardian", content.guardian.pid) && in >> content.guardian.start_ticks &&
                     take(in, "spent-before", content.spent_before) && take(in, "recorded", content.recorded) &&
                     take(in, "from", content.from) && take(in, "until", content.until) &&
                     take(in, "max-epoch", content.max_epoch) && take(in, "report-offset", content.report_offset) &&
                     take(in, "log-offset", content.log_offset) && take_line(in, "dir", content.dir);
  if (!whole) return std::nullopt;
  content.guardian.boot = content.identity.boot;
  int continued = 0;
  if (take(in, "paid", content.paid) && take(in, "continued", continued)) {  // from version 0.2 on
    content.continued = continued != 0;
  } else {
    content.paid = content.recorded;
  }
  return content;
}

// As version 0.1 wrote it. Its time began on the wall clock, which is not believed.
std::optional<ProcessFile> parse_old(std::string_view text) {
  std::istringstream in{std::string(text)};
  ProcessFile content;
  double started_at = 0.0;
  int end = 0;
  const bool whole = take(in, "pid", content.identity.pid) && take(in, "start-ticks", content.identity.start_ticks) &&
                     take(in, "boot", content.identity.boot) && take(in, "started-at", started_at) &&
                     take(in, "spent-before", content.spent_before) && take(in, "recorded", content.recorded) &&
                     take(in, "from", content.from) && take(in, "until", content.until) &&
                     take(in, "max-epoch", content.max_epoch) && take(in, "report-offset", content.report_offset) &&
                     take(in, "log-offset", content.log_offset) && take(in, "end", end);
  if (!whole) return std::nullopt;
  return content;
}

// What stands between the first line and the checksum, if that is right.
std::optional<std::string_view> sound_body(std::string_view text) {
  const std::size_t first = text.find('\n');
  const std::size_t last = text.rfind("end ");
  if (first == std::string_view::npos || last == std::string_view::npos || last <= first) return std::nullopt;
  const std::string_view body = text.substr(first + 1, last - first - 1);
  if (text.substr(last) != fmt::format("end {:08x}\n", checksum(body))) return std::nullopt;
  return body;
}

std::optional<ProcessFile> parse(std::string_view text) {
  if (!text.starts_with("lived ")) return parse_old(text);
  const std::optional<std::string_view> body = sound_body(text);
  if (!body) return std::nullopt;
  std::optional<ProcessFile> content = parse_body(*body);
  const std::string_view line = text.substr(0, text.find('\n') + 1);
  std::istringstream in{std::string(line)};
  double lived = 0.0;
  if (!content || !take(in, "lived", lived) || line != lived_line(lived, *body)) return std::nullopt;
  content->lived = lived;
  return content;
}

std::optional<std::string> read_bounded(const FileDescriptor& file) {
  std::string text(kMaxBytes, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace

void write_process_file(const std::filesystem::path& file, const ProcessFile& content) {
  const std::string body = body_of(content);
  replace_file(file, fmt::format("{}{}end {:08x}\n", lived_line(content.lived, body), body, checksum(body)));
}

void renew_lived(const std::filesystem::path& file, const std::string& mark, int pid, double lived) {
  const FileDescriptor fd = open_regular(file, O_RDWR);
  if (!fd) return;
  const std::optional<std::string> text = read_bounded(fd);
  const std::optional<ProcessFile> content = text ? parse(*text) : std::nullopt;
  if (!content || content->mark != mark || content->identity.pid != pid) return;
  const std::string line = lived_line(lived, sound_body(*text).value_or(""));
  [[maybe_unused]] const ssize_t ignored = ::pwrite(fd.get(), line.data(), line.size(), 0);
}

std::optional<ProcessFile> read_process_file(const std::filesystem::path& file) {
  const FileDescriptor fd = open_regular(file, O_RDONLY);
  if (!fd) return std::nullopt;
  const std::optional<std::string> text = read_bounded(fd);
  return text ? parse(*text) : std::nullopt;
}

}  // namespace bapi
