#include "bapi/base/file_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

#include "bapi/base/file.h"

namespace bapi {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kChunk = std::size_t{8} << 20;  // bytes that are copied between two looks at `cancel`
constexpr std::size_t kBuffer = std::size_t{1} << 18;

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileDescriptor open_directory(int parent, const char* name) {
  return FileDescriptor(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Names in a directory but . and .., sorted; nullopt (and errno) if it cannot be read. The descriptor stays open.
std::optional<std::vector<std::string>> names_in(const FileDescriptor& directory) {
  const int copy = ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
  if (!stream) {
    ::close(copy);
    return std::nullopt;
  }
  ::rewinddir(stream.get());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  std::sort(names.begin(), names.end());
  return names;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

class Scan {
 public:
  std::string run(const fs::path& root) {
    const FileDescriptor directory = open_directory(AT_FDCWD, root.c_str());
    if (!directory) return why_not("read", root, errno);
    return visit(directory, root, "", 0);
  }

  TreeState take() { return std::move(state_); }

 private:
  std::string visit(const FileDescriptor& directory, const fs::path& root, const std::string& folder, int depth) {
    if (depth > kDeepestTree) return fmt::format("{} is more than {} directories deep", root.string(), kDeepestTree);
    const auto names = names_in(directory);
    if (!names) return why_not("read", root / folder, errno);
    for (const std::string& name : *names) {
      struct stat status = {};
      const std::string path = joined(folder, name);
      if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) continue;  // removed meanwhile; who compares two states sees it
        return why_not("read", root / path, errno);
      }
      if (state_.entries.size() >= kLargestTree) {
        return fmt::format("{} has more than {} entries", root.string(), kLargestTree);
      }
      state_.entries.push_back({.path = path,
                                .mode = status.st_mode,
                                .inode = status.st_ino,
                                .size = S_ISDIR(status.st_mode) ? 0 : status.st_size,
                                .modified = nanoseconds(status.st_mtim),
                                .changed = nanoseconds(status.st_ctim)});
      if (!S_ISDIR(status.st_mode)) continue;
      const FileDescriptor below = open_directory(directory.get(), name.c_str());
      if (!below && errno == ENOENT) continue;
      if (!below) return why_not("read", root / path, errno);
      if (std::string trouble = visit(below, root, path, depth + 1); !trouble.empty()) return trouble;
    }
    return "";
  }

  TreeState state_;
};

// One run of copy_tree.
class Copy {
 public:
  Copy(fs::path from, fs::path to, const std::atomic<bool>* cancel)
      : from_(std::move(from)), to_(std::move(to)), cancel_(cancel) {}

  CopySummary run() {
    const FileDescriptor source = open_directory(AT_FDCWD, from_.c_str());
    if (!source) return failed(why_not("read", from_, errno));
    if (::mkdir(to_.c_str(), 0777) != 0) return failed(why_not("create", to_, errno));
    const FileDescriptor target = open_directory(AT_FDCWD, to_.c_str());
    if (!target) return failed(why_not("open", to_, errno));
    summary_.failure = visit(source, target, "", 0);
    return summary_;
  }

 private:
  CopySummary failed(std::string why) {
    summary_.failure = std::move(why);
    return summary_;
  }

  bool cancelled() const { return cancel_ && cancel_->load(); }

  std::string visit(const FileDescriptor& source, const FileDescriptor& target, const std::string& folder, int depth) {
    if (depth > kDeepestTree) return fmt::format("{} is more than {} directories deep", from_.string(), kDeepestTree);
    const auto names = names_in(source);
    if (!names) return why_not("read", from_ / folder, errno);
    for (const std::string& name : *names) {
      if (cancelled()) return "it was interrupted";
      if (std::string trouble = copy_entry(source, target, name, joined(folder, name), depth); !trouble.empty()) {
        return trouble;
      }
    }
    return "";
  }

  std::string copy_entry(const FileDescriptor& source,
                         const FileDescriptor& target,
                         const std::string& name,
                         const std::string& path,
                         int depth) {
    struct stat status = {};
    if (::fstatat(source.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? "" : why_not("read", from_ / path, errno);
    }
    if (S_ISREG(status.st_mode)) return copy_file(source, target, name, path);
    if (S_ISLNK(status.st_mode)) return copy_link(source, target, name, path);
    if (!S_ISDIR(status.st_mode)) {
      ++summary_.skipped;
      return "";
    }
    const FileDescriptor from = open_directory(source.get(), name.c_str());
    if (!from) return why_not("read", from_ / path, errno);
    if (::mkdirat(target.get(), name.c_str(), (status.st_mode & 0777) | S_IRWXU) != 0) {
      return why_not("create", to_ / path, errno);
    }
    const FileDescriptor to = open_directory(target.get(), name.c_str());
    if (!to) return why_not("open", to_ / path, errno);
    return visit(from, to, path, depth + 1);
  }

  std::string copy_link(const FileDescriptor& source,
                        const FileDescriptor& target,
                        const std::string& name,
                        const std::string& path) {
    std::array<char, 4096> text;
    const ssize_t length = ::readlinkat(source.get(), name.c_str(), text.data(), text.size());
    if (length < 0) return why_not("read", from_ / path, errno);
    fs::path leads_to(std::string(text.data(), static_cast<std::size_t>(length)));
    const fs::path absolute = (leads_to.is_absolute() ? leads_to : from_ / fs::path(path).parent_path() / leads_to);
    const fs::path inside = absolute.lexically_normal().lexically_relative(from_.lexically_normal());
    if (inside.empty() || *inside.begin() == "..") {
      ++summary_.links_outside;
    } else if (leads_to.is_absolute()) {
      leads_to = inside.lexically_relative(fs::path(path).parent_path());
    }
    if (::symlinkat(leads_to.c_str(), target.get(), name.c_str()) != 0) return why_not("create", to_ / path, errno);
    return "";
  }

  std::string copy_file(const FileDescriptor& source,
                        const FileDescriptor& target,
                        const std::string& name,
                        const std::string& path) {
    const FileDescriptor from(
        ::openat(source.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!from) return errno == ENOENT ? "" : why_not("read", from_ / path, errno);
    struct stat status = {};
    if (::fstat(from.get(), &status) != 0) return why_not("read", from_ / path, errno);
    const FileDescriptor to(::openat(target.get(),
                                     name.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                     (status.st_mode & 0777) | S_IWUSR | S_IRUSR));
    if (!to) return why_not("create", to_ / path, errno);
    if (::ioctl(to.get(), FICLONE, from.get()) != 0) {
      if (std::string trouble = copy_data(from, to, status.st_size, path); !trouble.empty()) return trouble;
    }
    const std::array<timespec, 2> times = {status.st_atim, status.st_mtim};
    ::futimens(to.get(), times.data());
    ++summary_.files;
    summary_.bytes += status.st_size;
    return "";
  }

  // The stretches that hold data; a file system that does not know them says that all of it does.
  std::string copy_data(const FileDescriptor& from, const FileDescriptor& to, off_t size, const std::string& path) {
    off_t at = 0;
    while (at < size) {
      off_t begin = ::lseek(from.get(), at, SEEK_DATA);
      if (begin < 0 && errno == ENXIO) break;  // nothing but a hole is left
      if (begin < 0) begin = at;
      off_t end = ::lseek(from.get(), begin, SEEK_HOLE);
      if (end <= begin) end = size;
      end = std::min(end, size);
      if (std::string trouble = copy_range(from, to, begin, end, path); !trouble.empty()) return trouble;
      at = end;
    }
    if (::ftruncate(to.get(), size) != 0) return why_not("write", to_ / path, errno);
    return "";
  }

  std::string copy_range(
      const FileDescriptor& from, const FileDescriptor& to, off_t begin, off_t end, const std::string& path) {
    off_t in = begin;
    off_t out = begin;
    while (in < end) {
      if (cancelled()) return "it was interrupted";
      const std::size_t wanted = std::min(kChunk, static_cast<std::size_t>(end - in));
      const ssize_t copied = ::copy_file_range(from.get(), &in, to.get(), &out, wanted, 0);
      if (copied > 0) continue;
      if (copied == 0) return "";  // it became shorter meanwhile; who compares two states sees it
      if (errno == EINTR) continue;
      const bool elsewhere = errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
      return elsewhere ? copy_bytes(from, to, in, end, path) : why_not("write", to_ / path, errno);
    }
    return "";
  }

  std::string copy_bytes(
      const FileDescriptor& from, const FileDescriptor& to, off_t begin, off_t end, const std::string& path) {
    std::vector<char> buffer(kBuffer);
    for (off_t at = begin; at < end;) {
      if (cancelled()) return "it was interrupted";
      const ssize_t got =
          ::pread(from.get(), buffer.data(), std::min(buffer.size(), static_cast<std::size_t>(end - at)), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return why_not("read", from_ / path, errno);
      if (got == 0) return "";
      for (ssize_t done = 0; done < got;) {
        const ssize_t put = ::pwrite(to.get(), buffer.data() + done, static_cast<std::size_t>(got - done), at + done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return why_not("write", to_ / path, errno);
        done += put;
      }
      at += got;
    }
    return "";
  }

  const fs::path from_;
  const fs::path to_;
  const std::atomic<bool>* cancel_;
  CopySummary summary_;
};

// Calls `visit(parent, name, status)` for everything below a directory, what is inside a directory before itself.
// Stops at the first text that is not empty.
using Visit = std::function<std::string(const FileDescriptor& parent, const std::string& name, const struct stat&)>;

std::string walk(const FileDescriptor& directory, const Visit& visit, int depth) {
  const auto names = names_in(directory);
  if (!names) return std::string("cannot read a directory: ") + ::strerror(errno);
  for (const std::string& name : *names) {
    struct stat status = {};
    if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(status.st_mode) && depth < kDeepestTree + 2) {
      if ((status.st_mode & S_IRWXU) != S_IRWXU) {
        ::fchmodat(directory.get(), name.c_str(), (status.st_mode & 0777) | S_IRWXU, 0);
      }
      const FileDescriptor below = open_directory(directory.get(), name.c_str());
      if (below) {
        if (std::string trouble = walk(below, visit, depth + 1); !trouble.empty()) return trouble;
      }
    }
    if (std::string trouble = visit(directory, name, status); !trouble.empty()) return trouble;
  }
  return "";
}

std::string sync_one(const FileDescriptor& parent, const std::string& name, const struct stat& status) {
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return "";
  const FileDescriptor file(::openat(parent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file && ::fsync(file.get()) == 0) return "";
  return fmt::format("cannot write {} to the disk: {}", name, ::strerror(errno));
}

std::string remove_one(const FileDescriptor& parent, const std::string& name, const struct stat& status) {
  const int flags = S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0;
  if (::unlinkat(parent.get(), name.c_str(), flags) == 0 || errno == ENOENT) return "";
  return fmt::format("cannot remove {}: {}", name, ::strerror(errno));
}

}  // namespace

std::int64_t TreeState::files() const {
  return std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return S_ISREG(entry.mode); });
}

std::int64_t TreeState::bytes() const {
  std::int64_t sum = 0;
  for (const Entry& entry : entries) sum += S_ISREG(entry.mode) ? entry.size : 0;
  return sum;
}

double TreeState::newest_content() const {
  std::int64_t newest = 0;
  for (const Entry& entry : entries) newest = std::max(newest, S_ISREG(entry.mode) ? entry.modified : 0);
  return static_cast<double>(newest / 1'000'000'000) + 1e-9 * static_cast<double>(newest % 1'000'000'000);
}

bool is_anything_at(const std::filesystem::path& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool holds_something(const std::filesystem::path& directory) {
  std::error_code failed;
  const bool empty = std::filesystem::is_empty(directory, failed);
  return !failed && !empty;
}

std::variant<TreeState, std::string> scan_tree(const fs::path& directory) {
  Scan scan;
  if (std::string trouble = scan.run(directory); !trouble.empty()) return trouble;
  return scan.take();
}

CopySummary copy_tree(const fs::path& from, const fs::path& to, const std::atomic<bool>* cancel) {
  return Copy(from, to, cancel).run();
}

std::string sync_tree(const fs::path& directory) {
  const FileDescriptor opened = open_directory(AT_FDCWD, directory.c_str());
  if (!opened) return why_not("open", directory, errno);
  if (std::string trouble = walk(opened, sync_one, 0); !trouble.empty()) return trouble;
  return ::fsync(opened.get()) == 0 ? "" : why_not("write", directory, errno);
}

std::string remove_tree(const fs::path& directory) {
  struct stat status = {};
  if (::lstat(directory.c_str(), &status) != 0) return errno == ENOENT ? "" : why_not("remove", directory, errno);
  if (S_ISDIR(status.st_mode)) {
    if ((status.st_mode & S_IRWXU) != S_IRWXU) ::chmod(directory.c_str(), (status.st_mode & 0777) | S_IRWXU);
    const FileDescriptor opened = open_directory(AT_FDCWD, directory.c_str());
    if (!opened) return why_not("remove", directory, errno);
    if (std::string trouble = walk(opened, remove_one, 0); !trouble.empty()) {
      return fmt::format("{}: {}", directory.string(), trouble);
    }
    return ::rmdir(directory.c_str()) == 0 ? "" : why_not("remove", directory, errno);
  }
  return ::unlink(directory.c_str()) == 0 ? "" : why_not("remove", directory, errno);
}

std::int64_t disk_usage(const fs::path& directory) {
  struct stat status = {};
  if (::lstat(directory.c_str(), &status) != 0) return 0;
  std::int64_t blocks = status.st_blocks;
  std::error_code failed;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(directory, options, failed);
       !failed && entry != fs::recursive_directory_iterator();
       entry.increment(failed)) {
    if (::lstat(entry->path().c_str(), &status) == 0) blocks += status.st_blocks;
  }
  constexpr std::int64_t kBlock = 512;  // st_blocks counts these, whatever the file system
  return blocks * kBlock;
}

}  // namespace bapi
