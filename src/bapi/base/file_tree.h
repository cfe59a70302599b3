#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace bapi {

// A directory and everything below it, as the file system describes it without a look into the files: two equal states
// with nobody writing in between hold the same bytes, and whoever writes changes it. No link is followed.
struct TreeState {
  struct Entry {
    std::string path;  // relative to the directory
    std::uint32_t mode = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified = 0;  // nanoseconds since the Unix epoch
    std::int64_t changed = 0;   // the same, of the inode
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries = {};  // by path; without the directory itself
  bool operator==(const TreeState&) const = default;

  bool empty() const { return entries.empty(); }
  std::int64_t files() const;     // regular ones
  std::int64_t bytes() const;     // of all regular files, as they are read
  double newest_content() const;  // when a regular file was last written to, in seconds; 0 if there is none
};

// Deeper or larger trees are refused: checkpoints are neither, and a snapshot of a loop of mounts must end.
inline constexpr int kDeepestTree = 64;
inline constexpr std::size_t kLargestTree = 100'000;  // entries

// Whether anything is at this path, be it a link that leads nowhere. What cannot be looked at is not there.
bool is_anything_at(const std::filesystem::path& path);

// Whether a directory is there, can be read and is not empty.
bool holds_something(const std::filesystem::path& directory);

// A text says why there is none: the directory cannot be read, is too deep or has too many entries.
std::variant<TreeState, std::string> scan_tree(const std::filesystem::path& directory);

struct CopySummary {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  int skipped = 0;           // pipes, sockets, devices
  int links_outside = 0;     // links to somewhere else, copied as links
  std::string failure = {};  // why it is not complete; empty if it is
};

// Copies what is below `from` to `to`, which must not exist. Blocks are shared where the file system can (FICLONE),
// else copied, never linked: a program may write into its files in place. Holes stay holes. Modes and times of files
// are kept. A link that leads to a place below `from` leads to the same place below `to`. Ends early, incomplete, when
// `cancel` becomes true.
CopySummary copy_tree(const std::filesystem::path& from,
                      const std::filesystem::path& to,
                      const std::atomic<bool>* cancel = nullptr);

// Writes every file and directory to the disk, so that they survive a power cut. A text says what failed.
std::string sync_tree(const std::filesystem::path& directory);

// Removes the directory and everything below it, whatever its modes; no link is followed. A text says what failed. What
// does not exist is removed.
std::string remove_tree(const std::filesystem::path& directory);

// Bytes on the disk of the directory and everything below it; what cannot be read counts nothing.
std::int64_t disk_usage(const std::filesystem::path& directory);

}  // namespace bapi
