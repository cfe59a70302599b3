#include "bapi/store/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "bapi/base/error.h"
#include "bapi/store/file_error.h"

namespace bapi {
namespace {

class OpenFile {
 public:
  OpenFile(const std::filesystem::path& path, int flags) : path_(path), fd_(::open(path.c_str(), flags, 0666)) {
    if (fd_ < 0) throw_file_error(path, "cannot be opened");
  }
  ~OpenFile() { ::close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(fd_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw_file_error(path_, "cannot be written");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void sync() {
    if (::fsync(fd_) != 0) throw_file_error(path_, "cannot be made durable");
  }

 private:
  std::filesystem::path path_;
  int fd_;
};

// Removes the draft unless it became the file.
struct Draft {
  std::filesystem::path path;
  ~Draft() { ::unlink(path.c_str()); }
};

// A rename that never replaces. Network file systems have no such call; there a second name is made instead.
NewFile give_name(const std::filesystem::path& draft, const std::filesystem::path& file) {
  int result = ::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE);
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) result = ::link(draft.c_str(), file.c_str());
  if (result == 0) return NewFile::made;
  if (errno == EEXIST) return NewFile::existed;
  throw_file_error(file, "cannot be created");
}

}  // namespace

NewFile make_file(const std::filesystem::path& file, std::string_view content) {
  const Draft draft{file.string() + ".new." + std::to_string(::getpid())};
  ::unlink(draft.path.c_str());  // what a process of the same number left, or somebody has put in the way
  OpenFile output(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  output.write(content);
  output.sync();
  const NewFile outcome = give_name(draft.path, file);
  const std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : ".";
  OpenFile(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC).sync();
  return outcome;
}

}  // namespace bapi
