#include "trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace experiments {
namespace {

template <typename Number>
void read_variable(const char* name, Number& target) {
  const char* text = std::getenv(name);
  if (!text) return;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, target);
  if (error != std::errc() || rest != end) {
    throw std::runtime_error(fmt::format("{}=\"{}\": expected a whole number", name, text));
  }
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0.0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

[[noreturn]] void fail(const std::filesystem::path& file, const char* what) {
  throw std::runtime_error(fmt::format("{}: cannot be {}: {}", file.string(), what, std::strerror(errno)));
}

void write_all(int file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

class OpenFile {
 public:
  OpenFile(const std::filesystem::path& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (file_ < 0) fail(path, "opened");
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(file_); }
  int get() const { return file_; }

 private:
  int file_;
};

}  // namespace

void TrialSettings::read_environment() {
  read_variable("BAPI_FROM_EPOCH", from_epoch);
  read_variable("BAPI_MAX_EPOCH", last_epoch);
  read_variable("BAPI_SEED", seed);
  if (const char* directory = std::getenv("BAPI_CHECKPOINT_DIR")) checkpoint = directory;
}

std::string report_line(int epoch, const ReportFields& fields) {
  std::string line = fmt::format("{{\"epoch\": {}", epoch);
  for (const auto& [name, value] : fields) line += fmt::format(", \"{}\": {}", name, number(value));
  return line + "}";
}

void report(std::string_view line) {
  const char* path = std::getenv("BAPI_REPORT");
  if (!path) {
    fmt::print("bapi: {}\n", line);
    std::fflush(stdout);
    return;
  }
  const OpenFile file(path, O_WRONLY | O_APPEND | O_CREAT);
  write_all(file.get(), fmt::format("{}\n", line), path);
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void replace_file(const std::filesystem::path& file, std::string_view bytes) {
  std::filesystem::path beside = file;
  beside += ".new";
  {
    const OpenFile draft(beside, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(draft.get(), bytes, beside);
    if (::fdatasync(draft.get()) != 0) fail(beside, "written");
  }
  std::filesystem::rename(beside, file);
}

std::optional<std::string> read_file(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(file, "read");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace experiments
