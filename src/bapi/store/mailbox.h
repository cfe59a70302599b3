#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bapi {

inline constexpr std::size_t kLargestLetter = std::size_t{1} << 20;  // bytes; a box may have a smaller limit

// Where others leave letters for the one who runs a study, its leader: the only writer of the log. A letter is there
// whole or not at all. What letters say, and when one is done with, is up to the box: WishBox (configurations to try),
// RequestBox (pause, budget, note). All boxes of a study in a directory are folders of it, those of a study in a
// database are tables there.
class Mailbox {
 public:
  virtual ~Mailbox() = default;

  // A name for a letter that no other one has; names sort in the order of `now` (seconds since the Unix epoch).
  static std::string new_id(double now);

  // Whether a text has the form of such a name, or of one that version 0.1 gave: never a path.
  static bool is_id(std::string_view text);

  // Adds a letter or replaces it. Throws StoreError.
  virtual void put(const std::string& id, std::string_view text) const = 0;

  virtual std::vector<std::string> ids() const = 0;  // of all letters, the oldest first
  virtual bool has(const std::string& id) const = 0;

  // nullopt if it is not there, or cannot be a letter: it is too large.
  virtual std::optional<std::string> read(const std::string& id) const = 0;
  virtual void remove(const std::string& id) const = 0;
  virtual void remove_older_than(double seconds) const = 0;  // by the box's own clock
};

// Letters that are files of a folder, which is made when the first one is left. What is no regular file is no letter.
class FolderMailbox : public Mailbox {
 public:
  // `largest` letter, in bytes; `ending` of its file's name.
  FolderMailbox(std::filesystem::path folder, std::size_t largest, std::string ending = ".json")
      : folder_(std::move(folder)), largest_(largest), ending_(std::move(ending)) {}

  void put(const std::string& id, std::string_view text) const override;  // StoreError if the folder is another user's
  std::vector<std::string> ids() const override;
  bool has(const std::string& id) const override;
  std::optional<std::string> read(const std::string& id) const override;
  void remove(const std::string& id) const override;
  void remove_older_than(double seconds) const override;

 private:
  std::filesystem::path file(const std::string& id) const;

  std::filesystem::path folder_;
  std::size_t largest_;
  std::string ending_;
};

}  // namespace bapi
