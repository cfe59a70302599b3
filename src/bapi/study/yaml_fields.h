#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/space/space.h"

namespace YAML {
class Node;
}

namespace bapi {

// YAML text, read field by field with a place for every message. The only code that knows yaml-cpp is behind it.

// A place in the text, counted from 1; line 0 if there is none.
struct TextPlace {
  int line = 0;
  int column = 0;
};

// The text that is being read: its name, and where the key of each path (parameters.lr.min) stands in it. Without a
// name it is not of a file, and messages say nothing of places.
struct YamlSource {
  std::string file;
  std::map<std::string, TextPlace> keys = {};

  // "study.yaml:3:7: ", how a message about this place begins.
  std::string at(TextPlace place) const;

  // Puts the place before a message that begins with a path, as those of Space and StudySpec do.
  std::string located(const std::string& message) const;
};

// What is wrong with the parts of a text, gathered, so that one mistake does not hide the next.
class Mistakes {
 public:
  explicit Mistakes(const YamlSource& source) : source_(source) {}

  // Reads a part; if that throws InvalidInput, its message is kept. Several lines are several mistakes.
  template <typename Read>
  void of(Read&& read) {
    try {
      read();
    } catch (const InvalidInput& error) {
      add(error.what());
    }
  }

  // A key that is not there is told last: it has no place of its own.
  template <typename Read>
  void of_missing(const std::string& key, Read&& read) {
    try {
      read();
    } catch (const InvalidInput& error) {
      missing_.emplace_back(key, error.what());
    }
  }

  // Nothing needs to be said of missing keys that are there under another name.
  template <typename Predicate>
  void forgive_missing(Predicate is_there) {
    std::erase_if(missing_, [&](const auto& missing) { return is_there(missing.first); });
  }

  std::size_t count() const { return found_.size() + missing_.size(); }
  bool none() const { return count() == 0; }

  // Throws InvalidInput with all of them in the order of the text, one per line, if there are any.
  void refuse() const;

 private:
  void add(const std::string& text);

  const YamlSource& source_;
  std::vector<std::string> found_;                            // each with its place
  std::vector<std::pair<std::string, std::string>> missing_;  // key, message
};

// A value of the text, and the ways to read it. Each throws InvalidInput with place, path, found and expected.
class YamlField {
 public:
  YamlField(std::shared_ptr<const YAML::Node> node, std::string path, YamlSource& source);

  const std::string& path() const { return path_; }
  YamlSource& source() const { return *source_; }
  std::string where() const;  // place and path

  bool is_mapping() const;
  bool is_list() const;
  bool is_scalar() const;
  bool is_null() const;   // nothing behind the key
  bool is_empty() const;  // nothing, or ~

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_at(TextPlace place, const std::string& message) const;
  [[noreturn]] void expected(const std::string& what) const;

  // The value of a scalar; quoted text is always a string. Monostate for anything else.
  Value value() const;
  std::string text(const std::string& what) const;    // a scalar as it is written
  std::string string(const std::string& what) const;  // a string that is not empty
  bool boolean() const;
  bool yes() const;  // yes or no; true and false mean the same
  double number() const;
  std::int64_t integer() const;
  int small_integer() const;
  double seconds() const;                                           // a duration
  std::size_t one_of(const std::vector<std::string>& words) const;  // the index of the word
  std::vector<YamlField> items(const std::string& what) const;      // of a list

  struct Entry;
  std::vector<Entry> entries() const;  // of a mapping, in the order of the text; then what merge keys (<<) add

 private:
  bool is_quoted() const;
  void add_entries(const YAML::Node& node, int depth, std::vector<Entry>& entries) const;
  std::string found() const;
  TextPlace place() const;

  std::shared_ptr<const YAML::Node> node_;
  std::string path_;
  YamlSource* source_;
};

struct YamlField::Entry {
  std::string key;
  TextPlace place;
  YamlField value;
};

// Keys that other tools have and bapi does not, with what to write instead.
using KeyAdvice = std::map<std::string, std::string>;

// A mapping whose keys are all different.
class YamlMapping {
 public:
  struct Key {
    std::string name;
    TextPlace place;
  };

  YamlMapping(const YamlField& field, const std::string& what);

  // A mapping with these keys only; see refuse_unknown().
  YamlMapping(const YamlField& field,
              const std::string& what,
              const std::vector<std::string>& known,
              const KeyAdvice& advice = {});

  const std::vector<Key>& keys() const { return keys_; }
  bool has(const std::string& key) const { return fields_.contains(key); }
  const YamlField& operator[](const std::string& key) const { return fields_.at(key); }
  const YamlField& field() const { return field_; }

  // Throws InvalidInput for keys that are not known, one line each, which names the nearest known one. Keys that begin
  // with x- are the user's own, for example to hold an anchor.
  void refuse_unknown(const std::vector<std::string>& known, const KeyAdvice& advice = {}) const;

  // Whether an unknown key was probably meant to be this one.
  bool seems_misspelt(const std::string& key,
                      const std::vector<std::string>& known,
                      const KeyAdvice& advice = {}) const;

  const YamlField& required(const std::string& key, const std::string& example) const;
  void forbid(const std::vector<std::string>& keys, const std::string& beside) const;

 private:
  std::vector<Key> unknown_keys(const std::vector<std::string>& known) const;

  YamlField field_;
  std::vector<Key> keys_;
  std::map<std::string, YamlField> fields_;
};

// The one document of `text`. Throws InvalidInput if it is not YAML, has a second document, or none: then `what` was
// expected. The field refers to `source`.
YamlField load_yaml(const std::string& text, YamlSource& source, const std::string& what);

}  // namespace bapi
