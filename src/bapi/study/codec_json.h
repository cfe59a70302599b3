#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/names.h"
#include "bapi/base/rare.h"
#include "bapi/base/units.h"
#include "bapi/space/space.h"
#include "bapi/study/field.h"

// Inside the codec: JSON from and to every type whose fields can be visited. A struct has one list of its fields,
// `fields(visitor, value)`, found by its argument; Writer and Reader are the two visitors.
namespace bapi::codec {

using Json = nlohmann::ordered_json;

// Where in a text something stands: "spec.space[2].domain". A chain on the stack, spelled out only for a message.
class Path {
 public:
  explicit Path(std::string_view name, const Path* parent = nullptr) : name_(name), parent_(parent) {}
  Path(std::size_t index, const Path* parent) : index_(index), parent_(parent) {}

  std::string text() const;

 private:
  std::string_view name_ = {};
  std::size_t index_ = 0;
  const Path* parent_;
};

std::string quoted(const Json& found);  // shortened; never throws, whatever bytes are inside

[[noreturn]] void refuse(const Path& where, const Json& found, std::string_view expected);

// NewerFormat if the object says that it has a version above `known`.
void refuse_newer(const Json& object, int known);

Json parse(std::string_view text, const Path& where);

// ---- Single values

// JSON has no NaN and no infinities: "nan", "inf", "-inf".
Json number_json(double number);
std::string number_text(double number);  // the same as text
double number_of(const Json& json, const Path& where);

// Bytes that are no UTF-8 (a file name, the output of a program) are kept as {"bytes": "ff00"}.
Json text_json(const std::string& text);
std::string text_of(const Json& json, const Path& where);

// A name that becomes a key of a JSON object must be UTF-8; InvalidInput otherwise.
const std::string& key(const std::string& name, std::string_view what);

template <typename Integer>
Integer integer_of(const Json& json, const Path& where) {
  constexpr Integer kLow = std::numeric_limits<Integer>::min();
  constexpr Integer kHigh = std::numeric_limits<Integer>::max();
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (std::cmp_less_equal(number, kHigh)) return static_cast<Integer>(number);
  } else if (json.is_number_integer()) {
    const auto number = json.get<std::int64_t>();
    if (std::cmp_greater_equal(number, kLow) && std::cmp_less_equal(number, kHigh)) return static_cast<Integer>(number);
  }
  refuse(where, json, fmt::format("an integer from {} to {}", kLow, kHigh));
}

template <Named Enum>
Enum named_of(const Json& json, const Path& where) {
  if (json.is_string()) {
    if (const auto value = value_named<Enum>(json.get_ref<const std::string&>())) return *value;
  }
  std::vector<std::string> known;
  for (const std::string_view name : words<Enum>()) known.push_back(fmt::format("\"{}\"", name));
  refuse(where, json, fmt::format("one of {}", fmt::join(known, ", ")));
}

// ---- Types that are not a list of fields (codec_values.cc)

Json json_of(const Value& value);
Json json_of(const Config& config);
Json json_of(const Domain& domain);
Json json_of(const Space& space);
void read(const Json& json, const Path& where, Value& value);
void read(const Json& json, const Path& where, Config& config);
void read(const Json& json, const Path& where, Domain& domain);
void read(const Json& json, const Path& where, Space& space);

// ---- Everything else

template <typename T>
struct ListTraits : std::false_type {};
template <typename T>
struct ListTraits<std::vector<T>> : std::true_type {};

template <typename T>
struct OptionalTraits : std::false_type {};
template <typename T>
struct OptionalTraits<std::optional<T>> : std::true_type {};
template <typename T>
struct OptionalTraits<Rare<T>> : std::true_type {};

template <typename T>
struct MapTraits : std::false_type {};
template <typename T>
struct MapTraits<std::map<std::string, T>> : std::true_type {};

template <typename T>
Json json_of(const T& value);

// Writes each field that it visits into an object.
class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}

  template <typename T>
  void operator()(const Field& field, const T& value) {
    object_[std::string(field.name)] = json_of(value);
  }

  template <typename T>
  void if_set(const Field& field, const T& value) {
    if (!(value == T{})) (*this)(field, value);
  }

 private:
  Json& object_;
};

template <typename T>
Json json_of(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return number_json(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text_json(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return Json(value);
  } else if constexpr (std::is_same_v<T, TrialId>) {
    return Json(index(value));
  } else if constexpr (Named<T>) {
    return Json(std::string(word(value)));
  } else if constexpr (OptionalTraits<T>::value) {
    return value ? json_of(*value) : Json(nullptr);
  } else if constexpr (ListTraits<T>::value) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(json_of(element));
    return list;
  } else if constexpr (MapTraits<T>::value) {
    Json object = Json::object();
    for (const auto& [name, content] : value) object[key(name, "name")] = json_of(content);
    return object;
  } else {
    Json object = Json::object();
    Writer writer(object);
    fields(writer, value);
    return object;
  }
}

template <typename T>
void read(const Json& json, const Path& where, T& value);

// Reads each field that it visits from an object; `done` refuses those that were not visited.
class Reader {
 public:
  // Both must outlive the reader, and so must the names of fields.
  Reader(const Json& object, const Path& where);

  template <typename T>
  void operator()(const Field& field, T& value) {
    if (field.later && !has(field.name)) return;
    read(take(field.name), Path(field.name, &where_), value);
  }

  template <typename T>
  void if_set(const Field& field, T& value) {
    if (has(field.name)) (*this)(field, value);
  }

  bool has(std::string_view name) const;
  const Json& take(std::string_view name);
  Path where(std::string_view name) const { return Path(name, &where_); }
  void done() const;

 private:
  const Json& object_;
  const Path& where_;
  std::vector<std::string_view> taken_;
};

template <typename T>
void read(const Json& json, const Path& where, T& value) {
  if constexpr (std::is_same_v<T, double>) {
    value = number_of(json, where);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = text_of(json, where);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) refuse(where, json, "true or false");
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    value = integer_of<T>(json, where);
  } else if constexpr (std::is_same_v<T, TrialId>) {
    value = TrialId{integer_of<std::int64_t>(json, where)};
  } else if constexpr (Named<T>) {
    value = named_of<T>(json, where);
  } else if constexpr (OptionalTraits<T>::value) {
    value.reset();
    if (!json.is_null()) read(json, where, value.emplace());
  } else if constexpr (ListTraits<T>::value) {
    if (!json.is_array()) refuse(where, json, "a list");
    value.clear();
    value.reserve(json.size());
    for (const Json& element : json) {
      const Path place(value.size(), &where);
      read(element, place, value.emplace_back());
    }
  } else if constexpr (MapTraits<T>::value) {
    if (!json.is_object()) refuse(where, json, "an object");
    value.clear();
    for (const auto& field : json.items()) read(field.value(), Path(field.key(), &where), value[field.key()]);
  } else {
    Reader reader(json, where);
    fields(reader, value);
    reader.done();
  }
}

}  // namespace bapi::codec
