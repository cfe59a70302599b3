#pragma once

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <utility>

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

// These throw StoreError that names the file and the system's reason.
FileDescriptor open_file(const std::filesystem::path& path, int flags);  // flags of open(2); closed in child programs
void write_all(const FileDescriptor& file, std::string_view text, const std::filesystem::path& path);
void make_directories(const std::filesystem::path& path);
[[noreturn]] void fail_at(std::string_view what, const std::filesystem::path& path, int error);

}  // namespace bapi
