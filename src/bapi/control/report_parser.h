#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "bapi/base/units.h"
#include "bapi/study/curve.h"

namespace bapi {

// A report with more numbers is probably a mistake; those beyond are not kept.
inline constexpr std::size_t kMostOtherMetrics = 100;

// An epoch's result as the program wrote it; nothing is checked but the types.
struct EpochReport {
  Epoch epoch = 0;
  std::optional<double> value;  // of the metric; may be NaN or infinite; missing where only the epoch was named
  std::optional<double> cost;
  OtherMetrics others = {};  // every other number, at most kMostOtherMetrics of them
  std::string text;          // the JSON, cut to a length fit for messages
  bool operator==(const EpochReport&) const = default;
};

// {"ready": true}: the program has started up and begins to train.
struct ReadyReport {
  bool operator==(const ReadyReport&) const = default;
};

// JSON, but not a report: `message` says what was found and what was expected.
struct WrongReport {
  std::string message;
  bool operator==(const WrongReport&) const = default;
};

// Not a JSON object.
struct NoReport {
  bool operator==(const NoReport&) const = default;
};

using ReportLine = std::variant<EpochReport, ReadyReport, WrongReport, NoReport>;

// One line of the report file. Python's NaN, Infinity and -Infinity are understood although JSON has none.
ReportLine parse_report(std::string_view json, const std::string& metric);

// The line that parse_report reads the report from, to the last bit.
std::string report_line(const EpochReport& report, const std::string& metric);

// What is wrong with a value that is reported for epoch 0, which only marks the end of start-up; nullopt if `report`
// has none.
std::optional<std::string> epoch_zero_text(const ReportLine& report, const std::string& metric);

// The JSON after `bapi:` or `[tune-metric]:` in a line of output, wherever in the line it begins; nullopt if there is
// no such tag followed by a brace.
std::optional<std::string_view> tagged_report(std::string_view line);

}  // namespace bapi
