#include "bapi/study/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

namespace bapi {
namespace {

using Json = nlohmann::ordered_json;

// Of specifications and events alike. A text of another version is refused, never guessed at.
constexpr int kVersion = 1;

// In the order of the alternatives of Event.
constexpr std::array<std::string_view, 11> kKinds{"started",
                                                  "resumed",
                                                  "stopped",
                                                  "finished",
                                                  "measured",
                                                  "segment_done",
                                                  "program_ended",
                                                  "failed",
                                                  "interrupted",
                                                  "overhead",
                                                  "budget_changed"};
static_assert(kKinds.size() == std::variant_size_v<Event>);

// ---- Messages

// Where in a text something stands: "spec.space[2].domain". A chain on the stack, spelled out only for a message.
class Path {
 public:
  explicit Path(std::string_view name, const Path* parent = nullptr) : name_(name), parent_(parent) {}
  Path(std::size_t index, const Path* parent) : index_(index), parent_(parent) {}

  std::string text() const {
    if (parent_ == nullptr) return std::string(name_);
    return name_.empty() ? fmt::format("{}[{}]", parent_->text(), index_)
                         : fmt::format("{}.{}", parent_->text(), name_);
  }

 private:
  std::string_view name_ = {};
  std::size_t index_ = 0;
  const Path* parent_;
};

std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 80;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

// Never throws, whatever bytes are inside.
std::string quoted(const Json& found) { return shortened(found.dump(-1, ' ', false, Json::error_handler_t::replace)); }

[[noreturn]] void refuse(const Path& where, const Json& found, std::string_view expected) {
  throw InvalidInput(fmt::format("{}: found {}, expected {}", where.text(), quoted(found), expected));
}

Json parse(std::string_view text, const Path& where) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) {
    throw InvalidInput(fmt::format("{}: found {}, expected JSON", where.text(), shortened(std::string(text))));
  }
  return json;
}

// The fields of an object, each taken by name; `done` refuses those that nobody took.
class Fields {
 public:
  Fields(const Json& object, const Path& where) : object_(object), where_(where) {
    if (!object.is_object()) refuse(where_, object, "an object");
    taken_.reserve(object.size());
  }

  // The name must outlive this object.
  const Json& take(std::string_view name) {
    const auto field = object_.find(std::string(name));
    if (field == object_.end()) refuse(where_, object_, fmt::format("a field \"{}\"", name));
    taken_.push_back(name);
    return *field;
  }

  Path where(std::string_view name) const { return Path(name, &where_); }

  void done() const {
    if (taken_.size() == object_.size()) return;
    for (const auto& field : object_.items()) {
      if (std::find(taken_.begin(), taken_.end(), field.key()) == taken_.end()) {
        throw InvalidInput(fmt::format(
            "{}: found the field \"{}\", expected only {}", where_.text(), field.key(), fmt::join(taken_, ", ")));
      }
    }
  }

 private:
  const Json& object_;
  const Path& where_;
  std::vector<std::string_view> taken_;
};

// ---- Numbers

// JSON has no NaN and no infinities: "nan", "inf", "-inf".
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

Json number_json(double number) {
  return std::isfinite(number) ? Json(number) : Json(std::string(name_of_non_finite(number)));
}

double number_of(const Json& json, const Path& where) {
  if (json.is_number()) return json.get<double>();
  if (const std::optional<double> number = non_finite_named(json)) return *number;
  refuse(where, json, "a number");
}

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

// ---- Text

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

// Bytes that are no UTF-8 (a file name, the output of a program) are kept as {"bytes": "ff00"}.
Json text_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string digits;
  for (const char byte : text) fmt::format_to(std::back_inserter(digits), "{:02x}", static_cast<unsigned char>(byte));
  return {{"bytes", digits}};
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

std::string text_of(const Json& json, const Path& where) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_object()) refuse(where, json, "a text");
  Fields fields(json, where);
  std::string bytes = bytes_of(fields.take("bytes"), where);
  fields.done();
  return bytes;
}

// Names become keys of JSON objects, which are UTF-8.
const std::string& key(const std::string& name, std::string_view what) {
  if (!is_utf8(name)) refuse(Path(what), name, "a name in UTF-8");
  return name;
}

template <typename Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

constexpr std::array kGoals{EnumName{Goal::maximize, "maximize"}, EnumName{Goal::minimize, "minimize"}};
constexpr std::array kMeters{
    EnumName{Meter::seconds, "seconds"}, EnumName{Meter::epochs, "epochs"}, EnumName{Meter::reported, "reported"}};
constexpr std::array kCheckpoints{EnumName{Checkpoint::kept, "kept"}, EnumName{Checkpoint::none, "none"}};
constexpr std::array kScales{
    EnumName{Scale::linear, "linear"}, EnumName{Scale::log, "log"}, EnumName{Scale::log_complement, "log_complement"}};
constexpr std::array kOrders{EnumName{Choice::Order::unordered, "unordered"},
                             EnumName{Choice::Order::ordered, "ordered"}};
constexpr std::array kOverheads{EnumName{OverheadKind::start_up, "start-up"},
                                EnumName{OverheadKind::repeat, "repeat"},
                                EnumName{OverheadKind::grace, "grace"},
                                EnumName{OverheadKind::failed, "failed"}};

template <typename Names, typename Enum>
std::string_view name_in(const Names& names, Enum value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  throw LogicError("codec: an enumeration holds a value without a name");
}

template <typename Names>
auto value_in(const Names& names, const Json& json, const Path& where) {
  std::string known;
  for (const auto& entry : names) {
    if (json == entry.name) return entry.value;
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", entry.name);
  }
  refuse(where, json, "one of " + known);
}

// ---- Lists

template <typename List, typename ToJson>
Json list_json(const List& list, const ToJson& to_json) {
  Json json = Json::array();
  for (const auto& element : list) json.push_back(to_json(element));
  return json;
}

template <typename FromJson>
auto list_of(const Json& json, const Path& where, const FromJson& from_json) {
  if (!json.is_array()) refuse(where, json, "a list");
  std::vector<std::invoke_result_t<FromJson, const Json&, const Path&>> list;
  list.reserve(json.size());
  for (const Json& element : json) list.push_back(from_json(element, Path(list.size(), &where)));
  return list;
}

// ---- Values and configurations

// The type survives: 1 is an integer, 1.0 a double, and a double that is not finite {"double": "inf"}, not the text.
Json value_json(const Value& value) {
  return std::visit(Match{[](std::monostate) { return Json(nullptr); },
                          [](bool flag) { return Json(flag); },
                          [](std::int64_t integer) { return Json(integer); },
                          [](double number) {
                            return std::isfinite(number) ? Json(number) : Json{{"double", number_json(number)}};
                          },
                          [](const std::string& text) { return text_json(text); }},
                    value);
}

Value value_of(const Json& json, const Path& where) {
  if (json.is_null()) return std::monostate{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_number()) return integer_of<std::int64_t>(json, where);
  if (json.is_object() && json.contains("double")) {
    Fields fields(json, where);
    const double number = number_of(fields.take("double"), where);
    fields.done();
    return number;
  }
  if (json.is_string() || json.is_object()) return text_of(json, where);
  refuse(where, json, "null, true, false, a number or a text");
}

Json values_json(const std::vector<Value>& values) { return list_json(values, value_json); }
Json config_json(const Config& config) { return values_json(config.values); }

Config config_of(const Json& json, const Path& where) { return {.values = list_of(json, where, value_of)}; }

// ---- The space

template <typename Range>
Json range_json(const Range& range) {
  if constexpr (std::is_same_v<Range, RealRange>) {
    return {
        {"low", number_json(range.low)}, {"high", number_json(range.high)}, {"scale", name_in(kScales, range.scale)}};
  } else {
    return {{"low", range.low}, {"high", range.high}, {"scale", name_in(kScales, range.scale)}};
  }
}

Json domain_json(const Domain& domain) {
  return std::visit(
      Match{[](const RealRange& range) {
              return Json{{"real", range_json(range)}};
            },
            [](const IntRange& range) {
              return Json{{"int", range_json(range)}};
            },
            [](const Choice& choice) {
              return Json{
                  {"choice", {{"options", values_json(choice.options)}, {"order", name_in(kOrders, choice.order)}}}};
            },
            [](const Constant& constant) {
              return Json{{"constant", value_json(constant.value)}};
            }},
      domain);
}

RealRange real_range_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  RealRange range{.low = number_of(fields.take("low"), fields.where("low")),
                  .high = number_of(fields.take("high"), fields.where("high")),
                  .scale = value_in(kScales, fields.take("scale"), fields.where("scale"))};
  fields.done();
  return range;
}

IntRange int_range_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  IntRange range{.low = integer_of<std::int64_t>(fields.take("low"), fields.where("low")),
                 .high = integer_of<std::int64_t>(fields.take("high"), fields.where("high")),
                 .scale = value_in(kScales, fields.take("scale"), fields.where("scale"))};
  fields.done();
  return range;
}

Choice choice_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  Choice choice{.options = list_of(fields.take("options"), fields.where("options"), value_of),
                .order = value_in(kOrders, fields.take("order"), fields.where("order"))};
  fields.done();
  return choice;
}

Domain domain_of(const Json& json, const Path& where) {
  if (json.is_object() && json.size() == 1) {
    const std::string& name = json.begin().key();
    const Json& content = json.begin().value();
    if (name == "real") return real_range_of(content, where);
    if (name == "int") return int_range_of(content, where);
    if (name == "choice") return choice_of(content, where);
    if (name == "constant") return Constant{value_of(content, where)};
  }
  refuse(where, json, "an object with \"real\", \"int\", \"choice\" or \"constant\"");
}

Json condition_json(const Condition& condition) {
  return {{"param", text_json(condition.param)}, {"values", values_json(condition.values)}};
}

Condition condition_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  Condition condition{.param = text_of(fields.take("param"), fields.where("param")),
                      .values = list_of(fields.take("values"), fields.where("values"), value_of)};
  fields.done();
  return condition;
}

Json param_json(const Param& param) {
  return {{"name", text_json(param.name)},
          {"domain", domain_json(param.domain)},
          {"when", list_json(param.when, condition_json)}};
}

Param param_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  Param param{.name = text_of(fields.take("name"), fields.where("name")),
              .domain = domain_of(fields.take("domain"), fields.where("domain")),
              .when = list_of(fields.take("when"), fields.where("when"), condition_of)};
  fields.done();
  return param;
}

// ---- The parts of a specification

Json metric_json(const Metric& metric) {
  return {{"name", text_json(metric.name)}, {"goal", name_in(kGoals, metric.goal)}};
}

Metric metric_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  Metric metric{.name = text_of(fields.take("name"), fields.where("name")),
                .goal = value_in(kGoals, fields.take("goal"), fields.where("goal"))};
  fields.done();
  return metric;
}

Json budget_json(const BudgetSpec& budget) {
  return {{"limit", number_json(budget.limit)},
          {"unit", text_json(budget.unit)},
          {"meter", name_in(kMeters, budget.meter)},
          {"per_hour", number_json(budget.per_hour)}};
}

BudgetSpec budget_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  BudgetSpec budget{.limit = number_of(fields.take("limit"), fields.where("limit")),
                    .unit = text_of(fields.take("unit"), fields.where("unit")),
                    .meter = value_in(kMeters, fields.take("meter"), fields.where("meter")),
                    .per_hour = number_of(fields.take("per_hour"), fields.where("per_hour"))};
  fields.done();
  return budget;
}

Json epochs_json(const EpochRange& epochs) { return {{"min", epochs.min}, {"max", epochs.max}}; }

EpochRange epochs_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  EpochRange epochs{.min = integer_of<Epoch>(fields.take("min"), fields.where("min")),
                    .max = integer_of<Epoch>(fields.take("max"), fields.where("max"))};
  fields.done();
  return epochs;
}

Json policy_json(const PolicySpec& policy) {
  Json options = Json::object();
  for (const auto& [name, value] : policy.options) options[key(name, "policy.options")] = value_json(value);
  return {{"name", text_json(policy.name)}, {"options", std::move(options)}};
}

PolicySpec policy_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  PolicySpec policy{.name = text_of(fields.take("name"), fields.where("name"))};
  const Json& options = fields.take("options");
  const Path where_options = fields.where("options");
  if (!options.is_object()) refuse(where_options, options, "an object");
  for (const auto& option : options.items()) {
    policy.options.emplace(option.key(), value_of(option.value(), Path(option.key(), &where_options)));
  }
  fields.done();
  return policy;
}

Json env_json(const std::map<std::string, std::string>& env) {
  Json json = Json::object();
  for (const auto& [name, text] : env) json[key(name, "env")] = text_json(text);
  return json;
}

std::map<std::string, std::string> env_of(const Json& json, const Path& where) {
  if (!json.is_object()) refuse(where, json, "an object");
  std::map<std::string, std::string> env;
  for (const auto& variable : json.items()) {
    env.emplace(variable.key(), text_of(variable.value(), Path(variable.key(), &where)));
  }
  return env;
}

std::optional<double> deadline_of(const Json& json, const Path& where) {
  if (json.is_null()) return std::nullopt;
  return number_of(json, where);
}

void take_version(Fields& fields) {
  const Json& version = fields.take("version");
  if (version != kVersion)
    refuse(fields.where("version"), version, fmt::format("version {} (is bapi older than this study?)", kVersion));
}

// ---- Events

Json why_json(const Rationale& why) {
  return {{"rule", text_json(why.rule)}, {"numbers", list_json(why.numbers, [](const auto& number) {
                                            return Json::array({text_json(number.first), number_json(number.second)});
                                          })}};
}

std::pair<std::string, double> named_number_of(const Json& json, const Path& where) {
  if (!json.is_array() || json.size() != 2) refuse(where, json, "a pair of a name and a number");
  return {text_of(json[0], where), number_of(json[1], where)};
}

Rationale why_of(const Json& json, const Path& where) {
  Fields fields(json, where);
  Rationale why{.rule = text_of(fields.take("rule"), fields.where("rule")),
                .numbers = list_of(fields.take("numbers"), fields.where("numbers"), named_number_of)};
  fields.done();
  return why;
}

// Head of every event.
Json event_json(const Event& event) { return {{"kind", kind_of(event)}, {"version", kVersion}}; }

// Measurements and overheads come in tens of thousands: their text is written without a tree of JSON nodes.
std::string number_text(double number) {
  if (!std::isfinite(number)) return fmt::format("\"{}\"", name_of_non_finite(number));
  // "-0" would be read back as the integer zero.
  if (number == 0.0 && std::signbit(number)) return "-0.0";
  return fmt::format("{}", number);
}

std::string text_of_event(const Measured& fact) {
  return fmt::format(R"({{"kind":"measured","version":{},"trial":{},"epoch":{},"value":{},"cost":{}}})",
                     kVersion,
                     index(fact.trial),
                     fact.measurement.epoch,
                     number_text(fact.measurement.value),
                     number_text(fact.measurement.cost));
}

std::string text_of_event(const Overhead& fact) {
  return fmt::format(R"({{"kind":"overhead","version":{},"trial":{},"of":"{}","epoch":{},"cost":{}}})",
                     kVersion,
                     index(fact.trial),
                     name_in(kOverheads, fact.kind),
                     fact.epoch,
                     number_text(fact.cost));
}

void write_fields(Json& json, const TrialStarted& decision) {
  json["trial"] = index(decision.trial);
  json["config"] = config_json(decision.config);
  json["until"] = decision.until;
  json["expected_cost"] = number_json(decision.expected_cost);
  json["why"] = why_json(decision.why);
}

void write_fields(Json& json, const TrialResumed& decision) {
  json["trial"] = index(decision.trial);
  json["until"] = decision.until;
  json["expected_cost"] = number_json(decision.expected_cost);
  json["why"] = why_json(decision.why);
}

void write_fields(Json& json, const TrialStopped& decision) {
  json["trial"] = index(decision.trial);
  json["why"] = why_json(decision.why);
}

void write_fields(Json& json, const StudyFinished& decision) { json["reason"] = text_json(decision.reason); }
void write_fields(Json& json, const SegmentDone& fact) { json["trial"] = index(fact.trial); }
void write_fields(Json& json, const ProgramEnded& fact) { json["trial"] = index(fact.trial); }

void write_fields(Json& json, const TrialFailed& fact) {
  json["trial"] = index(fact.trial);
  json["message"] = text_json(fact.message);
}

void write_fields(Json& json, const Interrupted& fact) {
  json["trial"] = index(fact.trial);
  json["reason"] = text_json(fact.reason);
}

void write_fields(Json& json, const BudgetChanged& fact) { json["total"] = number_json(fact.total); }

TrialId take_trial(Fields& fields) {
  return TrialId{integer_of<std::int64_t>(fields.take("trial"), fields.where("trial"))};
}

Epoch take_epoch(Fields& fields, std::string_view name) {
  return integer_of<Epoch>(fields.take(name), fields.where(name));
}

double take_number(Fields& fields, std::string_view name) { return number_of(fields.take(name), fields.where(name)); }
std::string take_text(Fields& fields, std::string_view name) { return text_of(fields.take(name), fields.where(name)); }
Rationale take_why(Fields& fields) { return why_of(fields.take("why"), fields.where("why")); }

Event take_event(Fields& fields, std::string_view kind) {
  if (kind == "started") {
    return TrialStarted{.trial = take_trial(fields),
                        .config = config_of(fields.take("config"), fields.where("config")),
                        .until = take_epoch(fields, "until"),
                        .expected_cost = take_number(fields, "expected_cost"),
                        .why = take_why(fields)};
  }
  if (kind == "resumed") {
    return TrialResumed{.trial = take_trial(fields),
                        .until = take_epoch(fields, "until"),
                        .expected_cost = take_number(fields, "expected_cost"),
                        .why = take_why(fields)};
  }
  if (kind == "stopped") return TrialStopped{.trial = take_trial(fields), .why = take_why(fields)};
  if (kind == "finished") return StudyFinished{.reason = take_text(fields, "reason")};
  if (kind == "measured") {
    return Measured{.trial = take_trial(fields),
                    .measurement = {.epoch = take_epoch(fields, "epoch"),
                                    .value = take_number(fields, "value"),
                                    .cost = take_number(fields, "cost")}};
  }
  if (kind == "segment_done") return SegmentDone{.trial = take_trial(fields)};
  if (kind == "program_ended") return ProgramEnded{.trial = take_trial(fields)};
  if (kind == "failed") return TrialFailed{.trial = take_trial(fields), .message = take_text(fields, "message")};
  if (kind == "interrupted") return Interrupted{.trial = take_trial(fields), .reason = take_text(fields, "reason")};
  if (kind == "overhead") {
    return Overhead{.trial = take_trial(fields),
                    .kind = value_in(kOverheads, fields.take("of"), fields.where("of")),
                    .epoch = take_epoch(fields, "epoch"),
                    .cost = take_number(fields, "cost")};
  }
  if (kind == "budget_changed") return BudgetChanged{.total = take_number(fields, "total")};
  refuse(fields.where("kind"), kind, fmt::format("one of {}", fmt::join(kKinds, ", ")));
}

// ---- A configuration as the training program sees it

Json plain_value_json(const Value& value, const std::string& name) {
  if (const auto* number = std::get_if<double>(&value)) return number_json(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return key(*text, "config." + name);
  return value_json(value);
}

// The option that is written as `json`, of the same type if there is one: 1 is also found as 1.0.
Value option_of(const Json& json, const std::vector<Value>& options, const Path& where) {
  const Value* equal = nullptr;
  for (const Value& option : options) {
    const Json written = plain_value_json(option, "option");
    if (written != json) continue;
    if (written.is_number_float() == json.is_number_float()) return option;
    if (equal == nullptr) equal = &option;
  }
  if (equal == nullptr) refuse(where, json, "one of " + quoted(values_json(options)));
  return *equal;
}

Value plain_value_of(const Json& json, const Domain& domain, const Path& where) {
  return std::visit(Match{[&](const RealRange&) { return Value(number_of(json, where)); },
                          [&](const IntRange&) { return Value(integer_of<std::int64_t>(json, where)); },
                          [&](const Choice& choice) { return option_of(json, choice.options, where); },
                          [&](const Constant& constant) { return option_of(json, {constant.value}, where); }},
                    domain);
}

}  // namespace

std::string encode(const StudySpec& spec) {
  const Json json{{"version", kVersion},
                  {"name", text_json(spec.name)},
                  {"command", list_json(spec.command, text_json)},
                  {"metric", metric_json(spec.metric)},
                  {"budget", budget_json(spec.budget)},
                  {"deadline", spec.deadline ? number_json(*spec.deadline) : Json(nullptr)},
                  {"epochs", epochs_json(spec.epochs)},
                  {"workers", spec.workers},
                  {"seed", spec.seed},
                  {"policy", policy_json(spec.policy)},
                  {"space", list_json(spec.space.params(), param_json)},
                  {"pool", list_json(spec.pool, config_json)},
                  {"checkpoint", name_in(kCheckpoints, spec.checkpoint)},
                  {"grace", number_json(spec.grace)},
                  {"report_timeout", number_json(spec.report_timeout)},
                  {"max_failures", spec.max_failures},
                  {"env", env_json(spec.env)}};
  return json.dump();
}

StudySpec decode_spec(std::string_view text) {
  const Path where("spec");
  const Json json = parse(text, where);
  Fields fields(json, where);
  take_version(fields);
  StudySpec spec{.name = take_text(fields, "name"),
                 .command = list_of(fields.take("command"), fields.where("command"), text_of),
                 .metric = metric_of(fields.take("metric"), fields.where("metric")),
                 .budget = budget_of(fields.take("budget"), fields.where("budget")),
                 .deadline = deadline_of(fields.take("deadline"), fields.where("deadline")),
                 .epochs = epochs_of(fields.take("epochs"), fields.where("epochs")),
                 .workers = integer_of<int>(fields.take("workers"), fields.where("workers")),
                 .seed = integer_of<std::uint64_t>(fields.take("seed"), fields.where("seed")),
                 .policy = policy_of(fields.take("policy"), fields.where("policy")),
                 .space = Space(list_of(fields.take("space"), fields.where("space"), param_of)),
                 .pool = list_of(fields.take("pool"), fields.where("pool"), config_of),
                 .checkpoint = value_in(kCheckpoints, fields.take("checkpoint"), fields.where("checkpoint")),
                 .grace = take_number(fields, "grace"),
                 .report_timeout = take_number(fields, "report_timeout"),
                 .max_failures = integer_of<int>(fields.take("max_failures"), fields.where("max_failures")),
                 .env = env_of(fields.take("env"), fields.where("env"))};
  fields.done();
  return spec;
}

std::string_view kind_of(const Event& event) { return kKinds.at(event.index()); }

std::string encode(const Event& event) {
  return std::visit(
      [&]<typename T>(const T& content) {
        if constexpr (std::is_same_v<T, Measured> || std::is_same_v<T, Overhead>) {
          return text_of_event(content);
        } else {
          Json json = event_json(event);
          write_fields(json, content);
          return json.dump();
        }
      },
      event);
}

Event decode_event(std::string_view text) {
  const Path where("event");
  const Json json = parse(text, where);
  Fields fields(json, where);
  const std::string kind = take_text(fields, "kind");
  take_version(fields);
  Event event = take_event(fields, kind);
  fields.done();
  return event;
}

std::string encode(const Config& config, const Space& space) {
  const std::vector<Param>& params = space.params();
  check(config.values.size() == params.size(), "encode: the configuration belongs to another space");
  Json json = Json::object();
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (std::holds_alternative<std::monostate>(config.values[i])) continue;
    json[key(params[i].name, "config")] = plain_value_json(config.values[i], params[i].name);
  }
  return json.dump();
}

Config decode_config(std::string_view text, const Space& space) {
  const Path where("config");
  const Json json = parse(text, where);
  Fields fields(json, where);
  Config config;
  for (const Param& param : space.params()) {
    const std::string& name = param.name;
    config.values.push_back(json.contains(name) ? plain_value_of(fields.take(name), param.domain, fields.where(name))
                                                : Value(std::monostate{}));
  }
  fields.done();
  space.validate(config);
  return config;
}

}  // namespace bapi
