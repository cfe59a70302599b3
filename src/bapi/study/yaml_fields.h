#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// The text that is being read: its name, and where the key of each path (parameters.lr.min) stands in it.
struct YamlSource {
  std::string file;
  std::map<std::string, TextPlace> keys = {};

  // "study.yaml:3:7"
  std::string at(TextPlace place) const;

  // Puts the place before a message that begins with a path, as those of Space and StudySpec do.
  std::string located(const std::string& message) const;
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
  double number() const;
  std::int64_t integer() const;
  int small_integer() const;
  double seconds() const;                                           // a duration
  std::size_t one_of(const std::vector<std::string>& words) const;  // the index of the word
  std::vector<YamlField> items(const std::string& what) const;      // of a list

  struct Entry;
  std::vector<Entry> entries() const;  // of a mapping, in the order of the text

 private:
  bool is_quoted() const;
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

  // A mapping with these keys only. An unknown key is an error that names the nearest known one.
  YamlMapping(const YamlField& field,
              const std::string& what,
              const std::vector<std::string>& known,
              const KeyAdvice& advice = {});

  const std::vector<Key>& keys() const { return keys_; }
  bool has(const std::string& key) const { return fields_.contains(key); }
  const YamlField& operator[](const std::string& key) const { return fields_.at(key); }
  const YamlField& field() const { return field_; }

  const YamlField& required(const std::string& key, const std::string& example) const;
  void forbid(const std::vector<std::string>& keys, const std::string& beside) const;

 private:
  void check_key(const Key& key, const std::vector<std::string>& known, const KeyAdvice& advice) const;

  YamlField field_;
  std::vector<Key> keys_;
  std::map<std::string, YamlField> fields_;
};

// The one document of `text`. Throws InvalidInput if it is not YAML, has a second document, or none: then `what` was
// expected. The field refers to `source`.
YamlField load_yaml(const std::string& text, YamlSource& source, const std::string& what);

}  // namespace bapi
