#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/space/space.h"

namespace bapi {

// One value of a listing. null is "there is none": an empty cell in a table.
using Cell = nlohmann::ordered_json;

// Named values in a fixed order: a configuration, the budget of a study.
using Fields = Cell::object_t;

// The parameters that apply, by name.
Fields fields_of(const Config& config, const Space& space);

enum class Format { table, json, csv };
template <>
inline constexpr auto names<Format> =
    NameTable{Name{Format::table, "table"}, Name{Format::json, "json"}, Name{Format::csv, "csv"}};

// "table", "json", "csv"; InvalidInput names the three otherwise.
Format parse_format(std::string_view text);

// A listing: the same rows as an aligned text table for people (numbers short, right-aligned), a JSON array of objects,
// or CSV with a header line (RFC 4180; fields spread over columns like `config.lr`). JSON and CSV write numbers with as
// many digits as read back the same; values that are not finite are null.
class Table {
 public:
  explicit Table(std::vector<std::string> columns);

  void add(std::vector<Cell> row);  // LogicError unless there is one cell per column

  // How tables for people head a column, say with its unit. Scripts rely on its name. LogicError if there is none.
  Table& head(const std::string& column, std::string title);

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::string>& titles() const { return titles_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<std::string> columns_;
  std::vector<std::string> titles_;
  std::vector<std::vector<Cell>> rows_;
};

// The rows as a list of fields, for a place inside a larger document.
Cell list_of(const Table& table);
std::string json_list(const Table& table);  // the same as text on one line

// Ends with a newline. A table without rows still has its header.
std::string render(const Table& table, Format format);

// A single record: one "name  value" line per field for people, one JSON object, or CSV with one row.
std::string render(const Fields& record, Format format);

// On one line, with a space behind every comma and colon. Bytes that are not text are replaced.
std::string to_json(const Cell& cell);

// For people, on one line: four significant digits, "lr=0.1 units=64" for fields, line breaks and other control
// characters as \n and \x1b.
std::string to_text(const Cell& cell);

}  // namespace bapi
