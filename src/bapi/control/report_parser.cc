#include "bapi/control/report_parser.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace bapi {
namespace {

using nlohmann::json;

constexpr std::size_t kQuoted = 200;  // characters of a report that a message shows
constexpr std::array<std::string_view, 2> kTags = {"bapi:", "[tune-metric]:"};
constexpr double kLargestEpoch = 1e9;

std::string excerpt(std::string_view text) {
  return text.size() <= kQuoted ? std::string(text) : fmt::format("{}...", text.substr(0, kQuoted));
}

// Puts quotes around words that stand outside of strings and are no JSON (NaN, Infinity, nan, inf), and leaves the rest
// as it is.
std::string quote_bare_words(std::string_view text) {
  std::string quoted_text;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool word =
        !in_string && (std::isalpha(static_cast<unsigned char>(c)) ||
                       (c == '-' && i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i + 1]))));
    if (word) {
      std::size_t end = i + 1;
      while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
      const std::string_view found = text.substr(i, end - i);
      const bool literal = found == "true" || found == "false" || found == "null" || found == "e" || found == "E";
      quoted_text += literal ? std::string(found) : fmt::format("\"{}\"", found);
      i = end;
      continue;
    }
    if (in_string && c == '\\' && i + 1 < text.size()) {
      quoted_text += c;
      quoted_text += text[i + 1];
      i += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    quoted_text += c;
    ++i;
  }
  return quoted_text;
}

json parse(std::string_view text) {
  constexpr bool kNoExceptions = false;
  json parsed = json::parse(text, nullptr, kNoExceptions);
  if (parsed.is_discarded()) parsed = json::parse(quote_bare_words(text), nullptr, kNoExceptions);
  return parsed;
}

// A number, or the name of one that JSON cannot write.
std::optional<double> number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  std::string name = value.get<std::string>();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "nan" || name == "-nan") return std::numeric_limits<double>::quiet_NaN();
  if (name == "inf" || name == "infinity") return kInfinity;
  if (name == "-inf" || name == "-infinity") return -kInfinity;
  return std::nullopt;
}

// What a message shows of a value. Lists and objects may be nested deeper than writing them out could follow.
std::string shown(const json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return excerpt(value.dump());
}

WrongReport wrong(std::string_view text, const std::string& mistake, const std::string& metric) {
  return {fmt::format(
      "the report {} {}; expected a line such as {{\"epoch\": 3, \"{}\": 0.91}}", excerpt(text), mistake, metric)};
}

OtherMetrics other_metrics(const json& report, const std::string& metric) {
  OtherMetrics others;
  for (const auto& [name, value] : report.items()) {
    if (name == metric || name == "epoch" || name == "cost" || name == "ready") continue;
    const std::optional<double> found = number(value);
    if (found && others.size() < kMostOtherMetrics) others[name] = *found;
  }
  return others;
}

}  // namespace

ReportLine parse_report(std::string_view text, const std::string& metric) {
  const json report = parse(text);
  if (!report.is_object()) return NoReport{};
  if (const auto ready = report.find("ready"); ready != report.end() && *ready == true) return ReadyReport{};

  const auto epoch = report.find("epoch");
  if (epoch == report.end()) return wrong(text, "has no \"epoch\"", metric);
  const double number_of_epoch = epoch->is_number() ? epoch->get<double>() : -1.0;
  if (!(number_of_epoch >= 0.0 && number_of_epoch <= kLargestEpoch) || number_of_epoch != std::floor(number_of_epoch)) {
    return wrong(text, fmt::format("has \"epoch\": {}, which is not a whole number from 1 on", shown(*epoch)), metric);
  }

  EpochReport result{.epoch = static_cast<Epoch>(number_of_epoch),
                     .value = {},
                     .cost = {},
                     .others = other_metrics(report, metric),
                     .text = excerpt(text)};
  if (const auto value = report.find(metric); value != report.end()) {
    result.value = number(*value);
    if (!result.value)
      return wrong(text, fmt::format("has \"{}\": {}, which is not a number", metric, shown(*value)), metric);
  }
  if (const auto cost = report.find("cost"); cost != report.end()) {
    result.cost = number(*cost);
    if (!result.cost) return wrong(text, fmt::format("has \"cost\": {}, which is not a number", shown(*cost)), metric);
  }
  return result;
}

std::string report_line(const EpochReport& report, const std::string& metric) {
  const auto number_text = [](double value) {
    if (std::isnan(value)) return std::string("NaN");
    if (std::isinf(value)) return std::string(value > 0.0 ? "Infinity" : "-Infinity");
    return json(value).dump();
  };
  std::string line = fmt::format("{{\"epoch\": {}", report.epoch);
  if (report.value) line += fmt::format(", {}: {}", json(metric).dump(), number_text(*report.value));
  if (report.cost && metric != "cost") line += fmt::format(", \"cost\": {}", number_text(*report.cost));
  for (const auto& [name, value] : report.others)
    line += fmt::format(", {}: {}", json(name).dump(), number_text(value));
  return line + "}";
}

std::optional<std::string> epoch_zero_text(const ReportLine& report, const std::string& metric) {
  const auto* epoch = std::get_if<EpochReport>(&report);
  if (!epoch || epoch->epoch != 0 || !epoch->value) return std::nullopt;
  return fmt::format(
      "epoch 0 was reported with {} {:.4g}. Epochs count from 1; epoch 0 only marks the end of start-up, and its "
      "value is not recorded. If it was trained, report epoch + 1",
      metric,
      *epoch->value);
}

std::optional<std::string_view> tagged_report(std::string_view line) {
  for (const std::string_view tag : kTags) {
    for (std::size_t at = line.find(tag); at != std::string_view::npos; at = line.find(tag, at + 1)) {
      if (at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1]))) continue;
      const std::size_t brace = line.find_first_not_of(' ', at + tag.size());
      if (brace != std::string_view::npos && line[brace] == '{') return line.substr(brace);
    }
  }
  return std::nullopt;
}

}  // namespace bapi
