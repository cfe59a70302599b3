#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bapi {

// A JSON document; InvalidInput names the file and the place at which it stops to be one.
nlohmann::json parse_json(std::string_view text, const std::string& file);

// A value within a JSON file together with its place, so that every mistake in it is said with both:
// "t.json: hp[0].name: found 1, expected a string". Every member throws InvalidInput. Refers to the document.
class JsonField {
 public:
  JsonField(const nlohmann::json& document, const std::string& file) : value_(&document), file_(&file) {}

  JsonField at(const std::string& key) const;                   // must be there
  std::optional<JsonField> find(const std::string& key) const;  // nullopt if there is none
  std::vector<JsonField> items() const;                         // of a list
  std::vector<std::string> keys() const;                        // of an object, in the order of the document

  std::string text() const;
  bool flag() const;  // true, false, or a number that is not 0
  double number() const;
  std::vector<double> numbers() const;
  std::vector<std::string> texts() const;
  std::uint64_t whole(std::uint64_t low, std::uint64_t high) const;  // 3 and 3.0 alike
  std::int64_t integer() const;                                      // the same with a sign

  // InvalidInput unless `condition`: "<file>: <place>: <message>".
  void require(bool condition, const std::string& message) const;

 private:
  JsonField(const nlohmann::json& value, const std::string* file, std::string place);
  [[noreturn]] void refuse(std::string_view expected) const;

  const nlohmann::json* value_;
  const std::string* file_;
  std::string place_ = {};  // empty at the top
};

}  // namespace bapi
