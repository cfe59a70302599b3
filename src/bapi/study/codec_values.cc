#include <cmath>

#include "bapi/base/match.h"
#include "bapi/study/codec.h"
#include "bapi/study/codec_json.h"
#include "bapi/study/spec_fields.h"

// Values, domains and configurations.
namespace bapi {
namespace codec {

// The type survives: 1 is an integer, 1.0 a double, and a double that is not finite {"double": "inf"}, not the text.
Json json_of(const Value& value) {
  return std::visit(Match{[](std::monostate) { return Json(nullptr); },
                          [](bool flag) { return Json(flag); },
                          [](std::int64_t integer) { return Json(integer); },
                          [](double number) {
                            return std::isfinite(number) ? Json(number) : Json{{"double", number_json(number)}};
                          },
                          [](const std::string& text) { return text_json(text); }},
                    value);
}

void read(const Json& json, const Path& where, Value& value) {
  if (json.is_null()) {
    value = std::monostate{};
  } else if (json.is_boolean()) {
    value = json.get<bool>();
  } else if (json.is_number_float()) {
    value = json.get<double>();
  } else if (json.is_number()) {
    value = integer_of<std::int64_t>(json, where);
  } else if (json.is_object() && json.contains("double")) {
    Reader reader(json, where);
    value = number_of(reader.take("double"), where);
    reader.done();
  } else if (json.is_string() || json.is_object()) {
    value = text_of(json, where);
  } else {
    refuse(where, json, "null, true, false, a number or a text");
  }
}

Json json_of(const Config& config) { return json_of(config.values); }
void read(const Json& json, const Path& where, Config& config) { read(json, where, config.values); }

Json json_of(const Domain& domain) {
  return std::visit(Match{[](const RealRange& range) {
                            return Json{{"real", json_of(range)}};
                          },
                          [](const IntRange& range) {
                            return Json{{"int", json_of(range)}};
                          },
                          [](const Choice& choice) {
                            return Json{{"choice", json_of(choice)}};
                          },
                          [](const Constant& constant) {
                            return Json{{"constant", json_of(constant.value)}};
                          }},
                    domain);
}

void read(const Json& json, const Path& where, Domain& domain) {
  constexpr std::string_view kExpected = "an object with \"real\", \"int\", \"choice\" or \"constant\"";
  if (!json.is_object() || json.size() != 1) refuse(where, json, kExpected);
  const std::string& name = json.begin().key();
  const Json& content = json.begin().value();
  if (name == "real") {
    read(content, where, domain.emplace<RealRange>());
  } else if (name == "int") {
    read(content, where, domain.emplace<IntRange>());
  } else if (name == "choice") {
    read(content, where, domain.emplace<Choice>());
  } else if (name == "constant") {
    read(content, where, domain.emplace<Constant>().value);
  } else {
    refuse(where, json, kExpected);
  }
}

Json json_of(const Space& space) { return json_of(space.params()); }

void read(const Json& json, const Path& where, Space& space) {
  std::vector<Param> params;
  read(json, where, params);
  space = Space(std::move(params));
}

namespace {

Json plain_json(const Value& value, const std::string& name) {
  if (const auto* number = std::get_if<double>(&value)) return number_json(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return key(*text, "config." + name);
  return json_of(value);
}

}  // namespace
}  // namespace codec

std::string encode(const OtherMetrics& metrics) { return codec::json_of(metrics).dump(); }

std::string encode(const Config& config, const Space& space) {
  const std::vector<Param>& params = space.params();
  check(config.values.size() == params.size(), "encode: the configuration belongs to another space");
  codec::Json json = codec::Json::object();
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (std::holds_alternative<std::monostate>(config.values[i])) continue;
    json[codec::key(params[i].name, "config")] = codec::plain_json(config.values[i], params[i].name);
  }
  return json.dump();
}

}  // namespace bapi
