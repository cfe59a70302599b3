#include "bapi/run/csv_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/base/number.h"
#include "bapi/run/study_dir.h"
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

// The value of `domain` that is written as `text`.
Value value_of(const std::string& text, const Domain& domain, const std::string& where) {
  return std::visit(Match{[&](const RealRange&) { return Value(parse_number(text, where)); },
                          [&](const IntRange&) { return Value(static_cast<std::int64_t>(parse_number(text, where))); },
                          [&](const Choice& choice) {
                            for (const Value& option : choice.options) {
                              if (to_text(option) == text) return option;
                            }
                            throw InvalidInput(fmt::format("{}: \"{}\" is not among the values", where, text));
                          },
                          [](const Constant& constant) { return constant.value; }},
                    domain);
}

// The study that the commented header describes; budget and epochs are ours to fill in.
StudySpec header_of(const std::vector<Line>& lines, const std::string& file) {
  std::string yaml;
  for (const Line& line : lines) {
    if (line.text.starts_with("#")) yaml += fmt::format("{}\n", line.text.substr(line.text.starts_with("# ") ? 2 : 1));
  }
  require(!yaml.empty(),
          fmt::format("{}:1: expected a header of lines that begin with '#' and name metric and parameters", file));
  return parse_study_file(yaml + "budget: 1 epochs\nepochs: {max: 1}\ncommand: [none]\n", file);
}

struct Columns {
  std::vector<std::size_t> params;
  std::size_t epoch = 0;
  std::size_t value = 0;
  std::optional<std::size_t> cost;
};

Columns columns_of(const std::vector<std::string>& names, const StudySpec& spec, const std::string& where) {
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
  for (const Param& param : spec.space.params()) {
    columns.params.push_back(std::holds_alternative<Constant>(param.domain) ? find(param.name).value_or(0)
                                                                            : need(param.name));
  }
  columns.epoch = need("epoch");
  columns.value = need(spec.metric.name);
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
    config.values.push_back(inactive ? Value() : value_of(text, space.params()[j].domain, where));
  }
  return config;
}

}  // namespace

CurveTable parse_csv_table(std::string_view text, const std::string& file) {
  const std::vector<Line> lines = lines_of(text);
  const StudySpec spec = header_of(lines, file);
  CurveTable table;
  table.name = spec.name;
  table.space = spec.space;
  table.metric = spec.metric;
  std::optional<Columns> columns;
  std::size_t width = 0;
  std::map<std::string, std::size_t> row_of;  // the parameters' text -> row
  for (const Line& line : lines) {
    if (line.text.empty() || line.text.starts_with("#")) continue;
    const std::string where = fmt::format("{}:{}", file, line.number);
    const std::vector<std::string> fields = fields_of(line.text);
    if (!columns) {
      columns = columns_of(fields, spec, where);
      width = fields.size();
      continue;
    }
    require(fields.size() == width, fmt::format("{}: {} fields, expected {}", where, fields.size(), width));
    std::string key;
    for (const std::size_t column : columns->params) key += fields[column] + '\n';
    const auto [entry, is_new] = row_of.try_emplace(key, table.runs.size());
    if (is_new) {
      table.configs.push_back(config_of(fields, *columns, spec.space, where));
      table.runs.emplace_back();
    }
    CurveTable::Run& run = table.runs[entry->second];
    const double epoch = parse_number(fields[columns->epoch], where);
    require(epoch == static_cast<double>(run.value.size() + 1),
            fmt::format("{}: epoch {}, expected {}", where, epoch, run.value.size() + 1));
    run.value.push_back(parse_number(fields[columns->value], where));
    run.cost.push_back(columns->cost ? parse_number(fields[*columns->cost], where) : 1.0);
    table.max_epoch = std::max(table.max_epoch, static_cast<Epoch>(run.value.size()));
  }
  require(columns.has_value(), fmt::format("{}: there is no line with the names of the columns", file));
  table.cost_unit = columns->cost ? "cost" : "epochs";
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
