#include "bapi/study/codec_json.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "bapi/base/utf8.h"
#include "bapi/study/codec.h"

namespace bapi::codec {
namespace {

std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 80;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

// More than any text of ours has. Values are written and compared by recursion, which a text from outside could make as
// deep as it is long.
constexpr int kDeepest = 100;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > kDeepest) return true;
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

std::string_view name_of_non_finite(double number) {
  if (std::isnan(number)) return "nan";
  return number > 0.0 ? "inf" : "-inf";
}

std::optional<double> non_finite_named(const Json& json) {
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

std::string bytes_of(const Json& json, const Path& where) {
  constexpr std::string_view kExpected = "pairs of hexadecimal digits";
  if (!json.is_string()) refuse(where, json, kExpected);
  const auto& digits = json.get_ref<const std::string&>();
  if (digits.size() % 2 != 0) refuse(where, json, kExpected);
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]);
    const int low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) refuse(where, json, kExpected);
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

}  // namespace

std::string Path::text() const {
  if (parent_ == nullptr) return std::string(name_);
  return name_.empty() ? fmt::format("{}[{}]", parent_->text(), index_) : fmt::format("{}.{}", parent_->text(), name_);
}

std::string quoted(const Json& found) { return shortened(found.dump(-1, ' ', false, Json::error_handler_t::replace)); }

void refuse_newer(const Json& object, int known) {
  const auto version = object.is_object() ? object.find("version") : object.end();
  if (version == object.end() || !version->is_number_integer() || *version <= known) return;
  throw NewerFormat(
      fmt::format("it was written by a newer bapi (format {}, this program knows up to {}). Upgrade bapi to open it",
                  version->dump(),
                  known));
}

void refuse(const Path& where, const Json& found, std::string_view expected) {
  throw InvalidInput(fmt::format("{}: found {}, expected {}", where.text(), quoted(found), expected));
}

Json parse(std::string_view text, const Path& where) {
  require(!is_too_deep(text),
          fmt::format("{}: found {}, expected at most {} lists and objects within each other",
                      where.text(),
                      shortened(std::string(text.substr(0, 100))),
                      kDeepest));
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) {
    throw InvalidInput(fmt::format("{}: found {}, expected JSON", where.text(), shortened(std::string(text))));
  }
  return json;
}

Json number_json(double number) {
  return std::isfinite(number) ? Json(number) : Json(std::string(name_of_non_finite(number)));
}

std::string number_text(double number) {
  if (!std::isfinite(number)) return fmt::format("\"{}\"", name_of_non_finite(number));
  // "-0" would be read back as the integer zero.
  if (number == 0.0 && std::signbit(number)) return "-0.0";
  return fmt::format("{}", number);
}

double number_of(const Json& json, const Path& where) {
  if (json.is_number()) return json.get<double>();
  if (const std::optional<double> number = non_finite_named(json)) return *number;
  refuse(where, json, "a number");
}

Json text_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string digits;
  for (const char byte : text) fmt::format_to(std::back_inserter(digits), "{:02x}", static_cast<unsigned char>(byte));
  return {{"bytes", digits}};
}

std::string text_of(const Json& json, const Path& where) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_object()) refuse(where, json, "a text");
  Reader reader(json, where);
  std::string bytes = bytes_of(reader.take("bytes"), where);
  reader.done();
  return bytes;
}

const std::string& key(const std::string& name, std::string_view what) {
  if (!is_utf8(name)) refuse(Path(what), name, "a name in UTF-8");
  return name;
}

Reader::Reader(const Json& object, const Path& where) : object_(object), where_(where) {
  if (!object.is_object()) refuse(where_, object, "an object");
  taken_.reserve(object.size());
}

bool Reader::has(std::string_view name) const { return object_.contains(std::string(name)); }

const Json& Reader::take(std::string_view name) {
  const auto field = object_.find(std::string(name));
  if (field == object_.end()) refuse(where_, object_, fmt::format("a field \"{}\"", name));
  taken_.push_back(name);
  return *field;
}

void Reader::done() const {
  if (taken_.size() == object_.size()) return;
  for (const auto& field : object_.items()) {
    if (std::find(taken_.begin(), taken_.end(), field.key()) == taken_.end()) {
      throw InvalidInput(fmt::format(
          "{}: found the field \"{}\", expected only {}", where_.text(), field.key(), fmt::join(taken_, ", ")));
    }
  }
}

}  // namespace bapi::codec
