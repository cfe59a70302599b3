#include "bapi/report/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : well_formed(text)) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string exact_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

template <typename Range, typename Write>
std::string joined(const Range& range, std::string_view separator, Write write) {
  std::string out;
  for (const auto& item : range) {
    if (!out.empty()) out += separator;
    out += write(item);
  }
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// One CSV field for anything that is not spread over columns.
std::string csv_text(const Cell& cell) {
  return std::visit(Match{[](std::monostate) { return std::string(); },
                          [](bool value) { return std::string(value ? "true" : "false"); },
                          [](std::int64_t value) { return fmt::format("{}", value); },
                          [](std::uint64_t value) { return fmt::format("{}", value); },
                          [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); },
                          [](const std::string& text) { return csv_field(text); },
                          [&](const Fields&) { return csv_field(to_json(cell)); },
                          [&](const std::vector<Cell>&) { return csv_field(to_json(cell)); }},
                    cell.data);
}

// A row as leaves with dotted names: {"config", {lr: 0.1}} becomes {"config.lr", 0.1}.
void flatten(const std::string& name, const Cell& cell, Fields& out) {
  const Fields* fields = std::get_if<Fields>(&cell.data);
  if (!fields) {
    out.emplace_back(name, cell);
    return;
  }
  for (const auto& [key, value] : *fields) flatten(name + "." + key, value, out);
}

const Cell* find(const Fields& fields, const std::string& name) {
  const auto it = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
  return it == fields.end() ? nullptr : &it->second;
}

// Where to put a name that only a later row has: behind the names that it follows there.
void merge_names(std::vector<std::string>& names, const Fields& row) {
  auto place = names.begin();
  for (const auto& [name, cell] : row) {
    const auto known = std::find(names.begin(), names.end(), name);
    place = std::next(known != names.end() ? known : names.insert(place, name));
  }
}

std::string render_csv(const Table& table) {
  std::vector<Fields> rows;
  std::vector<std::string> names;
  for (const std::vector<Cell>& row : table.rows()) {
    Fields& flat = rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) flatten(table.columns()[i], row[i], flat);
    merge_names(names, flat);
  }
  // A column that is a record in some rows and absent in others is shown by its parts alone.
  std::erase_if(names, [&](const std::string& name) {
    return std::any_of(
        names.begin(), names.end(), [&](const std::string& other) { return other.starts_with(name + "."); });
  });
  if (rows.empty()) names = table.columns();

  std::string out = joined(names, ",", csv_field) + "\n";
  for (const Fields& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) line += ',';
      if (const Cell* cell = find(row, names[i])) line += csv_text(*cell);
    }
    out += line + "\n";
  }
  return out;
}

std::string render_json(const Table& table) {
  if (table.rows().empty()) return "[]\n";
  const auto object = [&](const std::vector<Cell>& row) {
    Fields fields;
    for (std::size_t i = 0; i < row.size(); ++i) fields.emplace_back(table.columns()[i], row[i]);
    return "  " + to_json(Cell(std::move(fields)));
  };
  return "[\n" + joined(table.rows(), ",\n", object) + "\n]\n";
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell.data) || std::holds_alternative<std::uint64_t>(cell.data) ||
         std::holds_alternative<double>(cell.data);
}

// A column is aligned to the right if it holds nothing but numbers.
bool right_aligned(const Table& table, std::size_t column) {
  return std::all_of(table.rows().begin(), table.rows().end(), [&](const std::vector<Cell>& row) {
    return row[column].empty() || is_number(row[column]);
  });
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return right ? space + text : text + space;
}

std::string render_text(const Table& table) {
  std::vector<std::vector<std::string>> lines;
  lines.push_back(table.columns());
  for (const std::vector<Cell>& row : table.rows()) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Cell& cell : row) line.push_back(to_text(cell));
  }

  std::string out;
  for (const std::vector<std::string>& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::size_t width = 0;
      for (const std::vector<std::string>& other : lines) width = std::max(width, display_width(other[i]));
      if (i > 0) text += "  ";
      text += padded(line[i], width, right_aligned(table, i));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string render_text(const Fields& record) {
  std::size_t width = 0;
  for (const auto& [name, cell] : record) width = std::max(width, display_width(name));
  return joined(record, "", [&](const auto& field) {
    std::string line = padded(field.first, width, false) + "  " + to_text(field.second);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  });
}

}  // namespace

Fields fields_of(const Config& config, const Space& space) {
  Fields fields;
  for (std::size_t i = 0; i < config.values.size(); ++i) {
    if (std::holds_alternative<std::monostate>(config.values[i])) continue;
    Cell cell = std::visit([](const auto& value) { return Cell(value); }, config.values[i]);
    fields.emplace_back(space.params().at(i).name, std::move(cell));
  }
  return fields;
}

Format parse_format(std::string_view text) {
  if (const std::optional<Format> format = value_named<Format>(text)) return *format;
  throw InvalidInput(fmt::format("format '{}' is not one of {}", text, fmt::join(words<Format>(), ", ")));
}

void Table::add(std::vector<Cell> row) {
  check(row.size() == columns_.size(), "Table::add: one cell per column");
  rows_.push_back(std::move(row));
}

Cell list_of(const Table& table) {
  std::vector<Cell> list;
  for (const std::vector<Cell>& row : table.rows()) {
    Fields fields;
    for (std::size_t i = 0; i < row.size(); ++i) fields.emplace_back(table.columns()[i], row[i]);
    list.emplace_back(std::move(fields));
  }
  return list;
}

std::string render(const Table& table, Format format) {
  switch (format) {
    case Format::json:
      return render_json(table);
    case Format::csv:
      return render_csv(table);
    case Format::table:
      break;
  }
  return render_text(table);
}

std::string render(const Fields& record, Format format) {
  if (format == Format::table) return render_text(record);
  if (format == Format::json) return to_json(Cell(record)) + "\n";
  std::vector<std::string> names;
  std::vector<Cell> row;
  for (const auto& [name, cell] : record) {
    names.push_back(name);
    row.push_back(cell);
  }
  Table table(std::move(names));
  table.add(std::move(row));
  return render_csv(table);
}

std::string to_json(const Cell& cell) {
  return std::visit(
      Match{[](std::monostate) { return std::string("null"); },
            [](bool value) { return std::string(value ? "true" : "false"); },
            [](std::int64_t value) { return fmt::format("{}", value); },
            [](std::uint64_t value) { return fmt::format("{}", value); },
            [](double value) { return exact_number(value); },
            [](const std::string& text) { return json_string(text); },
            [](const Fields& fields) {
              const auto member = [](const auto& field) {
                return json_string(field.first) + ": " + to_json(field.second);
              };
              return fmt::format("{{{}}}", joined(fields, ", ", member));
            },
            [](const std::vector<Cell>& list) { return fmt::format("[{}]", joined(list, ", ", to_json)); }},
      cell.data);
}

std::string to_text(const Cell& cell) {
  return std::visit(
      Match{[](std::monostate) { return std::string(); },
            [](bool value) { return std::string(value ? "true" : "false"); },
            [](std::int64_t value) { return fmt::format("{}", value); },
            [](std::uint64_t value) { return fmt::format("{}", value); },
            [](double value) { return short_number(value); },
            [](const std::string& text) { return text; },
            [](const Fields& fields) {
              return joined(fields, " ", [](const auto& field) { return field.first + "=" + to_text(field.second); });
            },
            [](const std::vector<Cell>& list) {
              return joined(list, " ", [](const Cell& item) { return to_text(item); });
            }},
      cell.data);
}

}  // namespace bapi
