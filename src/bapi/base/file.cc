#include "bapi/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bapi/base/error.h"

namespace bapi {

void fail_at(std::string_view what, const std::filesystem::path& path, int error) {
  throw StoreError(fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(error)));
}

FileDescriptor open_file(const std::filesystem::path& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (!file) fail_at("open", path, errno);
  return file;
}

void write_all(const FileDescriptor& file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_at("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail_at("create", path, error.value());
}

std::optional<std::string> read_whole_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string contents_of(const std::filesystem::path& file) {
  std::optional<std::string> text = read_whole_file(file);
  require(text.has_value(), fmt::format("{}: cannot be read", file.string()));
  return *std::move(text);
}

void replace_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::path beside = file;
  beside += ".new";
  write_all(open_file(beside, O_WRONLY | O_CREAT | O_TRUNC), text, beside);
  if (::rename(beside.c_str(), file.c_str()) != 0) fail_at("replace", file, errno);
}

}  // namespace bapi
