#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {

// Owns an open file, pipe end or the like; closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// The machine is out of something just now: memory, processes, open files, disk space. Waiting may help.
class Shortage : public StoreError {
 public:
  using StoreError::StoreError;
};

// Whether the system's refusal (errno) says nothing about the request, only that the machine is out of memory,
// processes, open files or disk space just now.
bool is_shortage(int error);

// Opens a file of a study's directory, where others may have planted anything: no link is followed, nobody is waited
// for (as at the other end of a FIFO), and only a regular file is opened. Empty if that is impossible; errno is ELOOP
// for a link and ENXIO for what is no regular file.
FileDescriptor open_regular(const std::filesystem::path& path, int flags);

// These throw StoreError that names the file and the system's reason; Shortage if it is one.
FileDescriptor open_file(const std::filesystem::path& path, int flags);  // flags of open(2); closed in child programs

void write_all(const FileDescriptor& file, std::string_view text, const std::filesystem::path& path);
void make_directories(const std::filesystem::path& path);
[[noreturn]] void fail_at(std::string_view what, const std::filesystem::path& path, int error);

// "cannot read FILE: it is a symbolic link; ..."
std::string why_not(std::string_view what, const std::filesystem::path& path, int error);

// More than any file that is read as a whole: a larger one is a mistake or an attack, and is not read at all.
inline constexpr std::size_t kLargestFile = std::size_t{1} << 30;

// The whole of a regular file of at most `limit` bytes; nullopt if it cannot be read, is larger, or is a directory,
// pipe or device. Returns at once whatever it is.
std::optional<std::string> read_whole_file(const std::filesystem::path& file, std::size_t limit = kLargestFile);

// The same for a file that the user has named; InvalidInput says why it cannot be read.
std::string contents_of(const std::filesystem::path& file, std::size_t limit = kLargestFile);

// All or nothing for readers and for a crash of this process: written beside, then renamed. A link that somebody has
// put in the way is replaced, not followed. Throws StoreError.
void replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace bapi
