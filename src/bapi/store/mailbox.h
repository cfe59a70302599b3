#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bapi {

// A folder of a study's directory in which others leave letters for the one who runs it: the holder of the lock is the
// only writer of the log. Each letter is a file, there whole or not at all. What they say, and when one is done with,
// is up to the box: WishBox (configurations to try), RequestBox (pause, budget, note).
class Mailbox {
 public:
  Mailbox(std::filesystem::path folder, std::size_t largest) : folder_(std::move(folder)), largest_(largest) {}

  // A name for a letter that no other one has; names sort in the order of `now` (seconds since the Unix epoch).
  static std::string new_id(double now);

  // Whether a text has the form of such a name, or of one that version 0.1 gave: never a path.
  static bool is_id(std::string_view text);

  // Throws StoreError; also if the folder is another user's.
  void put(const std::string& id, std::string_view text) const;

  std::vector<std::string> ids() const;  // of all letters, the oldest first; none if there is no folder
  bool has(const std::string& id) const;

  // nullopt if it is not there, or is no regular file of at most the largest size.
  std::optional<std::string> read(const std::string& id) const;
  void remove(const std::string& id) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file(const std::string& id) const;

  std::filesystem::path folder_;
  std::size_t largest_;  // letter, in bytes
};

}  // namespace bapi
