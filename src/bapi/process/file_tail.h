#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "bapi/base/file.h"

namespace bapi {

// Reads the lines that others append to a file, from a given place on. Memory stays bounded whatever is written: a line
// longer than `max_line` is skipped. A file that is missing is empty.
class FileTail {
 public:
  // Throws Shortage if this process has too many files open.
  FileTail(const std::filesystem::path& file, std::int64_t offset, std::size_t max_line = 64 * 1024);

  // Calls `line` for every complete line (without its newline) among the next `max_bytes`. True if there may be more.
  bool read(const std::function<void(std::string_view line)>& line, std::int64_t max_bytes);

  // What follows the last newline, once nobody writes any more; empty if there is nothing or if it was too long.
  std::string take_rest();

  // When it was written to last, in seconds since the Unix epoch, and whether there was nothing more to read then.
  struct Stamp {
    double modified_at = 0.0;
    bool all_read = true;
  };
  Stamp stamp() const;

  // Why the file is not read, or not any further; empty if it is. It may be a link, a pipe or a device, which are never
  // opened, or have a hole that nobody can have appended.
  const std::string& problem() const { return problem_; }

 private:
  void split(std::string_view bytes, const std::function<void(std::string_view)>& line);

  bool is_at_hole(std::int64_t size) const;

  std::filesystem::path path_;
  FileDescriptor file_;
  std::string problem_;
  std::int64_t offset_;
  std::size_t max_line_;
  std::string partial_;    // the beginning of a line whose end is not written yet
  bool too_long_ = false;  // the line being read has passed the limit
};

// The last lines of a file, from `offset` on at the earliest: at most `max_lines` and `max_bytes`.
std::string last_lines(const std::filesystem::path& file, std::int64_t offset, int max_lines, std::int64_t max_bytes);

}  // namespace bapi
