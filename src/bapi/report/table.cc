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

// As many digits as read back the same.
std::string exact_number(const Cell& cell) {
  if (!cell.is_number_float()) return cell.dump();
  const auto value = cell.get<double>();
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

// One CSV field for anything that is not spread over columns.
std::string csv_text(const Cell& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return csv_field(cell.get_ref<const std::string&>());
  return cell.is_number() ? exact_number(cell) : csv_field(to_json(cell));
}

// A row as leaves with dotted names: {"config", {lr: 0.1}} becomes {"config.lr", 0.1}.
void flatten(const std::string& name, const Cell& cell, Fields& out) {
  if (!cell.is_object()) {
    out.emplace_back(name, cell);
    return;
  }
  for (const auto& [key, value] : cell.get_ref<const Fields&>()) flatten(name + "." + key, value, out);
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

// A column is aligned to the right if it holds nothing but numbers.
bool right_aligned(const Table& table, std::size_t column) {
  return std::all_of(table.rows().begin(), table.rows().end(), [&](const std::vector<Cell>& row) {
    return row[column].is_null() || row[column].is_number();
  });
}

// A name for people: chance_of_best is "chance of best".
std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return right ? space + text : text + space;
}

std::string render_text(const Table& table) {
  std::vector<std::vector<std::string>> lines;
  lines.push_back(table.titles());
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
    std::string line = padded(spaced(field.first), width, false) + "  " + to_text(field.second);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  });
}

}  // namespace

Fields fields_of(const Config& config, const Space& space) {
  Fields fields;
  for (std::size_t i = 0; i < config.values.size(); ++i) {
    if (std::holds_alternative<std::monostate>(config.values[i])) continue;
    fields.emplace_back(
        space.params().at(i).name,
        std::visit(Match{[](std::monostate) { return Cell(); }, [](const auto& value) { return Cell(value); }},
                   config.values[i]));
  }
  return fields;
}

Format parse_format(std::string_view text) {
  if (const std::optional<Format> format = value_named<Format>(text)) return *format;
  throw InvalidInput(fmt::format("format '{}' is not one of {}", text, fmt::join(words<Format>(), ", ")));
}

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {
  for (const std::string& column : columns_) titles_.push_back(spaced(column));
}

Table& Table::head(const std::string& column, std::string title) {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  check(found != columns_.end(), "Table::head: no such column");
  titles_[static_cast<std::size_t>(found - columns_.begin())] = std::move(title);
  return *this;
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
  if (cell.is_object()) {
    const auto member = [](const auto& field) { return to_json(Cell(field.first)) + ": " + to_json(field.second); };
    return fmt::format("{{{}}}", joined(cell.get_ref<const Fields&>(), ", ", member));
  }
  if (cell.is_array()) return fmt::format("[{}]", joined(cell, ", ", to_json));
  if (cell.is_string()) {
    return Cell(well_formed(cell.get_ref<const std::string&>())).dump(-1, ' ', false, Cell::error_handler_t::replace);
  }
  if (!cell.is_number()) return cell.dump();
  const std::string number = exact_number(cell);
  return number.empty() ? "null" : number;
}

std::string to_text(const Cell& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return visible_line(cell.get_ref<const std::string&>());
  if (cell.is_number_float()) return short_number(cell.get<double>());
  if (cell.is_array()) return joined(cell, " ", [](const Cell& item) { return to_text(item); });
  if (!cell.is_object()) return cell.dump();
  return joined(
      cell.get_ref<const Fields&>(), " ", [](const auto& field) { return field.first + "=" + to_text(field.second); });
}

}  // namespace bapi
