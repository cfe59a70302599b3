#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
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

// The whole file, or nullopt if it cannot be read.
std::optional<std::string> read_whole_file(const std::filesystem::path& file);

// The whole of a file that the user has named; InvalidInput if it cannot be read.
std::string contents_of(const std::filesystem::path& file);

// All or nothing for readers and for a crash of this process: written beside, then renamed. Throws StoreError.
void replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace bapi
