#include "bapi/report/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

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

// A leaf of a row, with its dotted name: {"config", {lr: 0.1}} has the leaf config.lr.
using Leaf = std::pair<std::string, const Cell*>;

void add_leaves(const std::string& name, const Cell& cell, std::vector<Leaf>& leaves) {
  if (!cell.is_object()) {
    leaves.emplace_back(name, &cell);
    return;
  }
  for (const auto& [key, value] : cell.get_ref<const Fields&>()) add_leaves(name + "." + key, value, leaves);
}

std::vector<Leaf> leaves_of(const Table& table, const std::vector<Cell>& row) {
  std::vector<Leaf> leaves;
  for (std::size_t i = 0; i < row.size(); ++i) add_leaves(table.columns()[i], row[i], leaves);
  return leaves;
}

// Where to put a name that only a later row has: behind the names that it follows there.
void merge_names(std::vector<std::string>& names, const std::vector<Leaf>& row) {
  auto place = names.begin();
  for (const auto& [name, cell] : row) {
    const auto known = place != names.end() && *place == name ? place : std::find(names.begin(), names.end(), name);
    place = std::next(known != names.end() ? known : names.insert(place, name));
  }
}

std::vector<std::string> csv_columns(const Table& table) {
  if (table.rows().empty()) return table.columns();
  std::vector<std::string> names;
  for (const std::vector<Cell>& row : table.rows()) merge_names(names, leaves_of(table, row));
  // A column that is a record in some rows and absent in others is shown by its parts alone.
  std::set<std::string, std::less<>> records;
  for (const std::string& name : names) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      records.insert(name.substr(0, dot));
    }
  }
  std::erase_if(names, [&](const std::string& name) { return records.contains(name); });
  return names;
}

// The leaves in the order of `names`. They mostly come in this order, so each is looked for behind the one before.
void append_csv_row(const std::vector<Leaf>& leaves, const std::vector<std::string>& names, std::string& out) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    for (std::size_t tried = 0; tried < leaves.size(); ++tried) {
      const Leaf& leaf = leaves[(next + tried) % leaves.size()];
      if (leaf.first != names[i]) continue;
      out += csv_text(*leaf.second);
      next += tried + 1;
      break;
    }
  }
  out += '\n';
}

std::string render_csv(const Table& table) {
  const std::vector<std::string> names = csv_columns(table);
  std::string out = joined(names, ",", csv_field) + "\n";
  for (const std::vector<Cell>& row : table.rows()) append_csv_row(leaves_of(table, row), names, out);
  return out;
}

Fields record_of(const Table& table, const std::vector<Cell>& row) {
  Fields fields;
  for (std::size_t i = 0; i < row.size(); ++i) fields.emplace_back(table.columns()[i], row[i]);
  return fields;
}

std::string render_json(const Table& table) {
  if (table.rows().empty()) return "[]\n";
  const auto line = [&](const std::vector<Cell>& row) { return "  " + to_json(Cell(record_of(table, row))); };
  return "[\n" + joined(table.rows(), ",\n", line) + "\n]\n";
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

// How wide a column is, and whether it is aligned to the right because it holds nothing but numbers.
struct Shape {
  std::size_t width = 0;
  bool numbers = true;
};

std::vector<Shape> shapes_of(const Table& table) {
  std::vector<Shape> shapes;
  for (const std::string& title : table.titles()) shapes.push_back({.width = display_width(title)});
  for (const std::vector<Cell>& row : table.rows()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      shapes[i].width = std::max(shapes[i].width, display_width(to_text(row[i])));
      shapes[i].numbers = shapes[i].numbers && (row[i].is_null() || row[i].is_number());
    }
  }
  return shapes;
}

void append_line(const std::vector<std::string>& texts, const std::vector<Shape>& shapes, std::string& out) {
  std::string line;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) line += "  ";
    line += padded(texts[i], shapes[i].width, shapes[i].numbers);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

std::string render_text(const Table& table) {
  const std::vector<Shape> shapes = shapes_of(table);
  std::string out;
  append_line(table.titles(), shapes, out);
  for (const std::vector<Cell>& row : table.rows()) {
    std::vector<std::string> texts;
    for (const Cell& cell : row) texts.push_back(to_text(cell));
    append_line(texts, shapes, out);
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
  for (const std::vector<Cell>& row : table.rows()) list.emplace_back(record_of(table, row));
  return list;
}

std::string json_list(const Table& table) {
  const auto object = [&](const std::vector<Cell>& row) { return to_json(Cell(record_of(table, row))); };
  return "[" + joined(table.rows(), ", ", object) + "]";
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
  return joined(cell.get_ref<const Fields&>(), " ", [](const auto& field) {
    return visible_line(field.first) + "=" + to_text(field.second);
  });
}

}  // namespace bapi
