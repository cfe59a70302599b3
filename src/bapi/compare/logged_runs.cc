#include "bapi/compare/logged_runs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/file.h"

namespace bapi {
namespace {

using Json = nlohmann::json;

// A whole number that fits; get<T>() alone would take any number, and cut it.
template <typename T>
T whole(const Json& json) {
  const bool fits = json.is_number_unsigned()  ? std::in_range<T>(json.get<std::uint64_t>())
                    : json.is_number_integer() ? std::in_range<T>(json.get<std::int64_t>())
                                               : false;
  if (!fits) throw Json::type_error::create(302, "expected a whole number", &json);
  return json.get<T>();
}

std::vector<DecisionTimes> decision_times_of(const Json& json) {
  std::vector<DecisionTimes> times;
  for (const Json& group : json) {
    times.push_back({.trials = group.at(0).get<double>(),
                     .decisions = whole<int>(group.at(1)),
                     .seconds = group.at(2).get<double>()});
  }
  return times;
}

Coverage coverage_of(const Json& json) {
  return {.count = whole<int>(json.at(0)),
          .within_50 = json.at(1).get<double>(),
          .within_80 = json.at(2).get<double>(),
          .within_95 = json.at(3).get<double>()};
}

RunRecord record_of(const Json& json) {
  return {
      .key = {.table = json.at("table").get<std::string>(),
              .policy = json.at("policy").get<std::string>(),
              .budget = json.at("budget").get<std::string>(),
              .workers = whole<int>(json.at("workers")),
              .seed = whole<std::uint64_t>(json.at("seed"))},
      .final = json.at("final").is_null() ? std::nullopt : std::optional(json.at("final").get<double>()),
      .regret = json.at("regret").get<double>(),
      .normalised_regret = json.at("normalised_regret").get<double>(),
      .spent = json.at("spent").get<double>(),
      .decisions = whole<int>(json.at("decisions")),
      .overhead_seconds = json.at("overhead_seconds").get<double>(),
      .decision_times = decision_times_of(json.value("decision_times", Json::array())),
      .trajectory = json.at("trajectory").get<std::vector<std::pair<double, double>>>(),
      .calibration = {.value = coverage_of(json.at("value_coverage")), .cost = coverage_of(json.at("cost_coverage"))}};
}

// One line into what is known. Throws Json::exception if it is none of a comparison's log.
void read_line(const Json& json, const std::string& file, LoggedRuns& logged) {
  if (json.contains("run")) {
    RunRecord record = record_of(json["run"]);
    RunKey key = record.key;
    logged.finished.insert_or_assign(std::move(key), std::move(record));
  } else if (json.contains("table")) {
    logged.tables[json["table"].get<std::string>()] = json.at("contents").get<std::string>();
  } else if (json.contains("policy")) {
    logged.policies[json["policy"].get<std::string>()] = json.at("is").get<std::string>();
  } else {
    const int version = whole<int>(json.at("bapi comparison"));
    require(version == kComparisonLogVersion,
            fmt::format("{}: version {}, expected {}", file, version, kComparisonLogVersion));
    logged.settings = settings_text(json.at("overhead").get<std::string>(), json.value("checkpoint", "kept"));
  }
}

}  // namespace

std::string settings_text(const std::string& overhead, const std::string& checkpoint) {
  return fmt::format("overhead {}, checkpoint {}", overhead, checkpoint);
}

LoggedRuns parse_runs(std::string_view text, const std::string& file) {
  LoggedRuns logged;
  std::size_t number = 0;
  while (logged.bytes < text.size()) {
    const std::size_t begin = logged.bytes;
    const std::size_t end = text.find('\n', begin);
    ++number;
    if (end == std::string_view::npos) return logged;
    try {
      read_line(Json::parse(text.substr(begin, end - begin)), file, logged);
    } catch (const Json::exception&) {
      require(
          end + 1 == text.size(),
          fmt::format("{0}:{1}: not a line of a comparison's log; delete it (sed -i {1}d {0}), and if it was a run, "
                      "that is done again",
                      file,
                      number));
      return logged;
    }
    logged.bytes = end + 1;
  }
  return logged;
}

LoggedRuns read_runs(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  return parse_runs(contents_of(file), file.string());
}

}  // namespace bapi
