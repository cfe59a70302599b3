#include "bapi/tables/json_field.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kShown = 40;  // characters of a value that a message quotes

// The library's messages begin with the name of a class.
std::string without_prefix(std::string_view message) {
  const std::size_t end = message.find("] ");
  return std::string(end == std::string_view::npos ? message : message.substr(end + 2));
}

// Lists and objects are only named: writing one out takes a stack as deep as it is nested.
std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    throw InvalidInput(fmt::format("{}: {}", file, without_prefix(e.what())));
  }
}

JsonField::JsonField(const Json& value, const std::string* file, std::string place)
    : value_(&value), file_(file), place_(std::move(place)) {}

void JsonField::require(bool condition, const std::string& message) const {
  if (condition) return;
  throw InvalidInput(place_.empty() ? fmt::format("{}: {}", *file_, message)
                                    : fmt::format("{}: {}: {}", *file_, place_, message));
}

void JsonField::refuse(std::string_view expected) const {
  require(false, fmt::format("found {}, expected {}", shown(*value_), expected));
  throw LogicError("unreachable");
}

std::optional<JsonField> JsonField::find(const std::string& key) const {
  if (!value_->is_object()) refuse("an object");
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return JsonField(*found, file_, place_.empty() ? key : fmt::format("{}.{}", place_, key));
}

JsonField JsonField::at(const std::string& key) const {
  const std::optional<JsonField> field = find(key);
  require(field.has_value(), fmt::format("there is no \"{}\"", key));
  return *field;
}

std::vector<JsonField> JsonField::items() const {
  if (!value_->is_array()) refuse("a list");
  std::vector<JsonField> fields;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    fields.push_back(JsonField((*value_)[i], file_, fmt::format("{}[{}]", place_, i)));
  }
  return fields;
}

std::vector<std::string> JsonField::keys() const {
  if (!value_->is_object()) refuse("an object");
  std::vector<std::string> names;
  for (const auto& [name, value] : value_->items()) names.push_back(name);
  return names;
}

std::string JsonField::text() const {
  if (!value_->is_string()) refuse("a string");
  return value_->get<std::string>();
}

bool JsonField::flag() const {
  if (value_->is_boolean()) return value_->get<bool>();
  if (!value_->is_number()) refuse("true or false");
  return value_->get<double>() != 0.0;
}

double JsonField::number() const {
  if (!value_->is_number()) refuse("a number");
  return value_->get<double>();
}

std::vector<double> JsonField::numbers() const {
  std::vector<double> values;
  for (const JsonField& item : items()) values.push_back(item.number());
  return values;
}

std::vector<std::string> JsonField::texts() const {
  std::vector<std::string> values;
  for (const JsonField& item : items()) values.push_back(item.text());
  return values;
}

std::int64_t JsonField::integer() const {
  std::optional<std::int64_t> number;
  if (value_->is_number_unsigned()) {
    if (std::in_range<std::int64_t>(value_->get<std::uint64_t>())) number = value_->get<std::int64_t>();
  } else if (value_->is_number_integer()) {
    number = value_->get<std::int64_t>();
  } else if (value_->is_number_float()) {
    const double real = value_->get<double>();
    if (real >= -0x1p63 && real < 0x1p63 && real == std::floor(real)) number = static_cast<std::int64_t>(real);
  }
  if (!number) refuse("a whole number");
  return *number;
}

std::uint64_t JsonField::whole(std::uint64_t low, std::uint64_t high) const {
  std::optional<std::uint64_t> number;
  if (value_->is_number_unsigned()) {
    number = value_->get<std::uint64_t>();
  } else if (value_->is_number_float()) {
    const double real = value_->get<double>();
    if (real >= 0.0 && real < 0x1p64 && real == std::floor(real)) number = static_cast<std::uint64_t>(real);
  }
  if (!number || *number < low || *number > high) refuse(fmt::format("a whole number from {} to {}", low, high));
  return *number;
}

}  // namespace bapi
