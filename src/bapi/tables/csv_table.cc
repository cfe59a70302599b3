#include "bapi/tables/csv_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/match.h"
#include "bapi/base/number.h"
#include "bapi/study/spec_file.h"

namespace bapi {
namespace {

struct Line {
  int number = 0;
  std::string_view text;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  int number = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back({number++, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// RFC 4180: a field in double quotes may hold commas, and two double quotes for one.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// The number that `text` is, within the range.
template <typename Range>
double number_in(const std::string& text, const Range& range, const std::string& where) {
  const double value = parse_number(text, where);
  require(value >= static_cast<double>(range.low) && value <= static_cast<double>(range.high),
          fmt::format("{} = {}, expected a number from {} to {}", where, text, range.low, range.high));
  return value;
}

// The value of `domain` that is written as `text`.
Value value_of(const std::string& text, const Domain& domain, const std::string& where) {
  return std::visit(
      Match{[&](const RealRange& range) { return Value(number_in(text, range, where)); },
            [&](const IntRange& range) {
              const double value = number_in(text, range, where);
              // The largest integers are rounded up as doubles, to what no integer can be.
              require(value == std::floor(value) && value < 0x1p63,
                      fmt::format("{} = {}, expected a whole number", where, text));
              return Value(static_cast<std::int64_t>(value));
            },
            [&](const Choice& choice) {
              std::vector<std::string> known;
              for (const Value& option : choice.options) {
                known.push_back(to_text(option));
                if (known.back() == text) return option;
              }
              throw InvalidInput(fmt::format("{} = \"{}\", expected one of {}", where, text, fmt::join(known, ", ")));
            },
            [](const Constant& constant) { return constant.value; }},
      domain);
}

struct CsvHeader {
  SpaceAndMetric told;
  std::optional<std::string> cost_unit;
};

constexpr std::string_view kCostUnit = "cost_unit:";

// What follows the key, without a comment, quotes and space around it.
std::string unit_of(std::string_view text, const std::string& where) {
  text = text.substr(0, text.find('#'));
  constexpr std::string_view kAround = " \t\"'";
  const std::size_t begin = text.find_first_not_of(kAround);
  require(begin != std::string_view::npos, fmt::format("{}: expected a unit, as in cost_unit: s", where));
  const std::string unit(text.substr(begin, text.find_last_not_of(kAround) + 1 - begin));
  for (const char* other : {"m", "min", "minutes", "h", "hours", "ms"}) {
    require(unit != other, fmt::format("{}: costs in {}; time is given in seconds, cost_unit: s", where, unit));
  }
  return unit == "seconds" ? "s" : unit;
}

CsvHeader header_of(const std::vector<Line>& lines, const std::string& file) {
  std::optional<std::string> cost_unit;
  std::string yaml;
  std::size_t header_end = 0;
  for (const Line& line : lines) {
    std::string_view text;
    const bool of_header = line.text.starts_with("#");
    if (of_header) text = line.text.substr(line.text.starts_with("# ") ? 2 : 1);
    if (text.starts_with(kCostUnit)) {
      cost_unit = unit_of(text.substr(kCostUnit.size()), fmt::format("{}:{}", file, line.number));
      text = {};
    }
    yaml += fmt::format("{}\n", text);  // one line for each, so that messages name the right one
    if (of_header) header_end = yaml.size();
  }
  yaml.resize(header_end);
  require(!yaml.empty(),
          fmt::format("{}:1: expected a header of lines that begin with '#' and name metric and parameters", file));
  return {.told = parse_space_and_metric(yaml, file), .cost_unit = std::move(cost_unit)};
}

struct Columns {
  std::vector<std::size_t> params;
  std::size_t epoch = 0;
  std::size_t value = 0;
  std::optional<std::size_t> cost;
};

Columns columns_of(const std::vector<std::string>& names, const SpaceAndMetric& told, const std::string& where) {
  const auto find = [&](const std::string& name) -> std::optional<std::size_t> {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
  };
  const auto need = [&](const std::string& name) {
    const std::optional<std::size_t> column = find(name);
    require(column.has_value(),
            fmt::format("{}: there is no column {}; found {}", where, name, fmt::join(names, ", ")));
    return *column;
  };
  Columns columns;
  for (const Param& param : told.space.params()) {
    columns.params.push_back(std::holds_alternative<Constant>(param.domain) ? find(param.name).value_or(0)
                                                                            : need(param.name));
  }
  columns.epoch = need("epoch");
  columns.value = need(told.metric.name);
  columns.cost = find("cost");
  return columns;
}

Config config_of(const std::vector<std::string>& fields,
                 const Columns& columns,
                 const Space& space,
                 const std::string& where) {
  Config config;
  for (std::size_t j = 0; j < space.params().size(); ++j) {
    const std::string& text = fields[columns.params[j]];
    const bool inactive = text.empty() && !space.params()[j].when.empty();
    config.values.push_back(
        inactive ? Value()
                 : value_of(text, space.params()[j].domain, fmt::format("{}: {}", where, space.params()[j].name)));
  }
  return config;
}

double cost_of(const std::string& text, const std::string& where) {
  const double cost = parse_number(text, where);
  require(std::isfinite(cost) && cost >= 0.0,
          fmt::format("{}: cost = {}, expected a finite number from 0", where, text));
  return cost;
}

}  // namespace

CurveTable parse_csv_table(std::string_view text, const std::string& file) {
  const std::vector<Line> lines = lines_of(text);
  const CsvHeader header = header_of(lines, file);
  const SpaceAndMetric& told = header.told;
  CurveTable table;
  table.name = told.name;
  table.space = told.space;
  table.metric = told.metric;
  std::optional<Columns> columns;
  std::size_t width = 0;
  std::map<std::string, std::size_t> row_of;  // the parameters' text -> row
  for (const Line& line : lines) {
    if (line.text.empty() || line.text.starts_with("#")) continue;
    const std::string where = fmt::format("{}:{}", file, line.number);
    const std::vector<std::string> fields = fields_of(line.text);
    if (!columns) {
      columns = columns_of(fields, told, where);
      width = fields.size();
      continue;
    }
    require(fields.size() == width, fmt::format("{}: {} fields, expected {}", where, fields.size(), width));
    std::string key;
    for (const std::size_t column : columns->params) key += fields[column] + '\n';
    const auto [entry, is_new] = row_of.try_emplace(key, table.runs.size());
    if (is_new) {
      table.configs.push_back(config_of(fields, *columns, told.space, where));
      table.runs.emplace_back();
    }
    CurveTable::Run& run = table.runs[entry->second];
    const double epoch = parse_number(fields[columns->epoch], where);
    require(epoch == static_cast<double>(run.value.size() + 1),
            fmt::format("{}: epoch {}, expected {}", where, epoch, run.value.size() + 1));
    run.value.push_back(parse_number(fields[columns->value], where));
    run.cost.push_back(columns->cost ? cost_of(fields[*columns->cost], where) : 1.0);
    table.max_epoch = std::max(table.max_epoch, static_cast<Epoch>(run.value.size()));
  }
  require(columns.has_value(), fmt::format("{}: there is no line with the names of the columns", file));
  require(columns->cost || !header.cost_unit, fmt::format("{}: has a cost_unit, but no column cost", file));
  table.cost_unit = columns->cost ? header.cost_unit.value_or("cost") : "epochs";
  table.validate();
  return table;
}

bool is_csv_table(std::string_view text) { return text.starts_with('#'); }

std::vector<std::string> csv_column(std::string_view text, const std::string& name, const std::string& file) {
  const std::vector<Line> lines = lines_of(text);
  const std::vector<std::string> names = lines.empty() ? std::vector<std::string>() : fields_of(lines.front().text);
  const auto found = std::find(names.begin(), names.end(), name);
  require(found != names.end(), fmt::format("{}: the first line names no column {}", file, name));
  const auto at = static_cast<std::size_t>(found - names.begin());
  std::vector<std::string> column;
  for (const Line& line : std::span(lines).subspan(1)) {
    if (line.text.empty()) continue;
    const std::vector<std::string> fields = fields_of(line.text);
    require(at < fields.size(), fmt::format("{}:{}: there is no column {}", file, line.number, name));
    column.push_back(fields[at]);
  }
  return column;
}

CurveTable read_csv_table(const std::string& path) { return parse_csv_table(contents_of(path), path); }

}  // namespace bapi
