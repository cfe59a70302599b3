#include "bapi/process/file_tail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr std::size_t kChunk = 64 * 1024;
constexpr std::int64_t kLargestHole = 16 * 1024 * 1024;  // bytes; smaller ones are read as they come

std::int64_t size_of(const FileDescriptor& file) {
  struct stat status = {};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

}  // namespace

// A file that is shorter than the offset was cut off (a power cut, or the program opened it anew): what it holds now
// was written since.
FileTail::FileTail(const std::filesystem::path& file, std::int64_t offset, std::size_t max_line)
    : path_(file), file_(open_regular(file, O_RDONLY)), max_line_(max_line) {
  if (!file_ && is_shortage(errno)) fail_at("read", file, errno);
  if (!file_ && errno != ENOENT) problem_ = why_not("read", file, errno);
  offset_ = offset <= size_of(file_) ? offset : 0;
}

// Also tells that there is nothing but hole up to the end.
bool FileTail::is_at_hole(std::int64_t size) const {
  if (size - offset_ <= kLargestHole) return false;
  const off_t data = ::lseek(file_.get(), offset_, SEEK_DATA);
  return data < 0 ? errno == ENXIO : data - offset_ > kLargestHole;
}

bool FileTail::read(const std::function<void(std::string_view)>& line, std::int64_t max_bytes) {
  if (!file_ || !problem_.empty()) return false;
  const std::int64_t size = size_of(file_);
  if (size == offset_) return false;
  if (is_at_hole(size)) {
    problem_ = fmt::format("cannot read {}: it has a hole of more than {} MB; reports are to be appended",
                           path_.string(),
                           kLargestHole >> 20);
    return false;
  }
  std::array<char, kChunk> buffer;
  for (std::int64_t total = 0; total < max_bytes;) {
    const ssize_t got = ::pread(file_.get(), buffer.data(), buffer.size(), offset_);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (size_of(file_) >= offset_) return false;
      offset_ = 0;
      partial_.clear();
      too_long_ = false;
      continue;
    }
    offset_ += got;
    total += got;
    split({buffer.data(), static_cast<std::size_t>(got)}, line);
    if (static_cast<std::size_t>(got) < buffer.size()) return false;  // saves asking for the end of the file
  }
  return true;
}

void FileTail::split(std::string_view bytes, const std::function<void(std::string_view)>& line) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    too_long_ = too_long_ || partial_.size() + piece.size() > max_line_;
    if (newline == std::string_view::npos) {
      if (too_long_) {
        std::string().swap(partial_);
      } else {
        partial_.append(piece);
      }
      return;
    }
    if (!too_long_) {
      if (partial_.empty()) {
        line(piece);
      } else {
        line(partial_.append(piece));
      }
    }
    partial_.clear();
    too_long_ = false;
    bytes.remove_prefix(newline + 1);
  }
}

std::string FileTail::take_rest() {
  too_long_ = false;
  return std::exchange(partial_, {});
}

FileTail::Stamp FileTail::stamp() const {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) return {};
  return {
      .modified_at = static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec),
      .all_read = status.st_size <= offset_};
}

std::string last_lines(const std::filesystem::path& file, std::int64_t offset, int max_lines, std::int64_t max_bytes) {
  const FileDescriptor fd = open_regular(file, O_RDONLY);
  if (!fd) return "";
  const std::int64_t size = size_of(fd);
  const std::int64_t begin = std::clamp(size - max_bytes, std::min(offset, size), size);
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t cut = text.size();
  for (int lines = 0; lines < max_lines && cut != std::string::npos && cut > 0; ++lines)
    cut = text.rfind('\n', cut - 1);
  return cut == std::string::npos || cut == 0 ? text : text.substr(cut + 1);
}

}  // namespace bapi
