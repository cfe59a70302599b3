#include "bapi/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <variant>

#include "bapi/base/error.h"

namespace bapi {

namespace {

std::string reason(int error) {
  if (error == ELOOP) return "it is a symbolic link; expected a regular file";
  if (error == ENXIO) return "it is a pipe, a device or a socket; expected a regular file";
  return std::strerror(error);
}

}  // namespace

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM || error == ENOSPC || error == EDQUOT;
}

std::string why_not(std::string_view what, const std::filesystem::path& path, int error) {
  return fmt::format("cannot {} {}: {}", what, path.string(), reason(error));
}

void fail_at(std::string_view what, const std::filesystem::path& path, int error) {
  if (is_shortage(error)) throw Shortage(why_not(what, path, error));
  throw StoreError(why_not(what, path, error));
}

FileDescriptor open_regular(const std::filesystem::path& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  struct stat status = {};
  if (!file) return file;
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  file.close();
  errno = ENXIO;
  return file;
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

namespace {

// What a file holds, or why it could not be read, for a message.
using Reading = std::variant<std::string, std::error_code, const char*>;

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "is a directory, expected a file";
  if (S_ISFIFO(mode)) return "is a pipe, expected a file";
  if (S_ISSOCK(mode)) return "is a socket, expected a file";
  return "is a device, expected a file";
}

// Never blocks: a pipe without a writer is opened and refused, not waited for.
Reading read_regular_file(const std::filesystem::path& path, std::size_t limit) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return std::error_code(errno, std::generic_category());
  if (!S_ISREG(status.st_mode)) return kind_of(status.st_mode);
  if (static_cast<std::uintmax_t>(status.st_size) > limit) return "is too large";
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t length = 0;
  while (true) {
    // One more than is expected tells the end from a file that grows, or that has no size, as those of /proc.
    if (length == text.size()) text.resize(std::min(limit, length + std::max<std::size_t>(length, 4096)) + 1);
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::error_code(errno, std::generic_category());
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length > limit) return "is too large";
  }
  text.resize(length);
  return text;
}

std::string trouble_of(const Reading& reading) {
  if (const auto* error = std::get_if<std::error_code>(&reading))
    return fmt::format("cannot be read: {}", error->message());
  return std::get<const char*>(reading);
}

}  // namespace

std::optional<std::string> read_whole_file(const std::filesystem::path& file, std::size_t limit) {
  Reading reading = read_regular_file(file, limit);
  if (auto* text = std::get_if<std::string>(&reading)) return std::move(*text);
  return std::nullopt;
}

std::string contents_of(const std::filesystem::path& file, std::size_t limit) {
  Reading reading = read_regular_file(file, limit);
  if (auto* text = std::get_if<std::string>(&reading)) return std::move(*text);
  throw InvalidInput(fmt::format("{}: {}", file.string(), trouble_of(reading)));
}

void replace_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::path beside = file;
  beside += ".new";
  if (::unlink(beside.c_str()) != 0 && errno != ENOENT) fail_at("remove", beside, errno);
  write_all(open_file(beside, O_WRONLY | O_CREAT | O_EXCL), text, beside);
  if (::rename(beside.c_str(), file.c_str()) != 0) fail_at("replace", file, errno);
}

}  // namespace bapi
