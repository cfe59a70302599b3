#include "bapi/store/study_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/host.h"
#include "bapi/store/file_error.h"

namespace bapi {
namespace {

std::filesystem::path lock_file(const std::filesystem::path& directory) { return directory / "lock"; }

// Locks of the open file, not of the process: they can be tested without being taken, and closing another descriptor of
// the same file does not drop them.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// "1234 hostname\n", written once, when the lock was taken. A holder that has not written its name yet has pid 0.
StudyLock::Holder read_holder(int fd) {
  std::array<char, 512> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), 0);
  const std::string_view text(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  StudyLock::Holder holder;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), holder.pid);
  if (error != std::errc() || end == text.data() + text.size()) return {};
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()) + 1);
  holder.host = rest.substr(0, rest.find('\n'));
  struct stat status {};
  if (::fstat(fd, &status) == 0) {
    holder.since = static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
  }
  return holder;
}

void write_holder(int fd, const std::filesystem::path& file) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), host_name());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw_file_error(file, "cannot be written");
  }
}

std::string complaint(const std::filesystem::path& directory, const StudyLock::Holder& holder) {
  if (holder.pid == 0) return fmt::format("{}: another bapi is running this study", directory.string());
  if (holder.pid == ::getpid() && holder.host == host_name()) {
    return fmt::format("{}: this process is running this study already; close it before it is opened again",
                       directory.string());
  }
  return fmt::format(
      "{}: process {} on {} is running this study already. Watch it with `bapi status`, or end it with `kill -INT {}` "
      "and run again",
      directory.string(),
      holder.pid,
      holder.host,
      holder.pid);
}

// A process that was killed needs a moment until its locks are free, longer on a busy machine, or if it leaves a child
// behind that has not begun its own program yet. A holder that is well is only given a short while: it may be leaving.
constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr int kLooksAtTheLiving = 20;
constexpr int kLooks = 3000;

// The hexadecimal mask of signals in the line of /proc/PID/status that begins with `name`.
unsigned long long signals_in(const std::string& line, std::string_view name) {
  return line.starts_with(name) ? std::strtoull(line.c_str() + name.size(), nullptr, 16) : 0;
}

// Gone, a zombie (dead, and its parent has not asked after it yet), or about to be: it was sent SIGKILL, and has got no
// processor to die on.
bool is_dead(int pid) {
  if (::kill(pid, 0) != 0) return errno == ESRCH;
  constexpr unsigned long long kKilled = 1ULL << (SIGKILL - 1);
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("State:\tZ") || line.starts_with("State:\tX")) return true;
    if (((signals_in(line, "SigPnd:") | signals_in(line, "ShdPnd:")) & kKilled) != 0) return true;
  }
  return false;
}

bool is_gone(const StudyLock::Holder& holder) {
  return holder.pid > 0 && holder.host == host_name() && is_dead(holder.pid);
}

bool lock_at_once(int fd, const std::filesystem::path& file) {
  struct flock request = whole_file();
  if (::fcntl(fd, F_OFD_SETLK, &request) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) throw_file_error(file, "cannot be locked");
  return false;
}

}  // namespace

StudyLock StudyLock::take(const std::filesystem::path& directory) {
  // Absolute: the controller may change its working directory.
  const std::filesystem::path file = std::filesystem::absolute(lock_file(directory));
  FileDescriptor opened = open_regular(file, O_RDWR | O_CREAT);
  if (!opened) fail_at("open", file, errno);
  StudyLock lock(std::move(opened), file);
  for (int look = 0; !lock_at_once(lock.fd_.get(), file); ++look) {
    const Holder holder = read_holder(lock.fd_.get());
    if (look >= kLooks || (look >= kLooksAtTheLiving && !is_gone(holder))) {
      throw StoreError(complaint(directory, holder));
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  lock.check_held();
  write_holder(lock.fd_.get(), file);
  return lock;
}

std::optional<StudyLock::Holder> StudyLock::holder(const std::filesystem::path& directory) {
  const std::filesystem::path file = lock_file(directory);
  FileDescriptor opened = open_regular(file, O_RDONLY);
  if (!opened) {
    if (errno == ENOENT) return std::nullopt;
    fail_at("open", file, errno);
  }
  const StudyLock probe(std::move(opened), file);
  struct flock request = whole_file();
  if (::fcntl(probe.fd_.get(), F_OFD_GETLK, &request) != 0) throw_file_error(file, "cannot be accessed");
  if (request.l_type == F_UNLCK) return std::nullopt;
  return read_holder(probe.fd_.get());
}

void StudyLock::check_held() const {
  struct stat own = {};
  struct stat there = {};
  const bool same = ::fstat(fd_.get(), &own) == 0 && ::stat(file_.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
                    own.st_ino == there.st_ino;
  if (same) return;
  throw LeadershipLost(
      fmt::format("{}: this file was removed or replaced, so that another controller may be running the study. Nothing "
                  "more is written; run the study again when no other does",
                  file_.string()));
}

}  // namespace bapi
