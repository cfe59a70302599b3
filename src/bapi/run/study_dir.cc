#include "bapi/run/study_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bapi/base/error.h"
#include "bapi/run/file_descriptor.h"

namespace bapi {
namespace {

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path, int error) {
  throw StoreError(fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(error)));
}

FileDescriptor open_or_fail(const std::filesystem::path& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (!file) fail("open", path, errno);
  return file;
}

void write_all(const FileDescriptor& file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail("create", path, error.value());
}

}  // namespace

void TrialDir::create() const {
  make_directories(checkpoint());
  open_or_fail(log(), O_WRONLY | O_CREAT | O_APPEND);
  open_or_fail(report(), O_WRONLY | O_CREAT | O_APPEND);
}

TrialDir StudyDir::trial(TrialId trial) const { return {root_ / "trials" / fmt::format("{:04}", index(trial))}; }

void StudyDir::create() const { make_directories(root_ / "trials"); }

std::optional<std::string> read_whole_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void replace_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::path beside = file;
  beside += ".new";
  write_all(open_or_fail(beside, O_WRONLY | O_CREAT | O_TRUNC), text, beside);
  if (::rename(beside.c_str(), file.c_str()) != 0) fail("replace", file, errno);
}

}  // namespace bapi
