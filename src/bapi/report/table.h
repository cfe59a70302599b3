#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/space/space.h"

namespace bapi {

struct Cell;

// Named values in a fixed order: a configuration, the budget of a study.
using Fields = std::vector<std::pair<std::string, Cell>>;

// One value of a listing. `std::monostate` is "there is none": an empty cell in a table, null in JSON.
struct Cell {
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Fields, std::vector<Cell>> data;

  Cell() = default;
  Cell(std::monostate) {}
  Cell(bool value) : data(value) {}
  Cell(int value) : data(std::int64_t{value}) {}
  Cell(std::int64_t value) : data(value) {}
  Cell(std::uint64_t value) : data(value) {}
  Cell(double value) : data(value) {}
  Cell(const char* text) : data(std::string(text)) {}
  Cell(std::string_view text) : data(std::string(text)) {}
  Cell(std::string text) : data(std::move(text)) {}
  Cell(Fields fields) : data(std::move(fields)) {}
  Cell(std::vector<Cell> list) : data(std::move(list)) {}

  bool empty() const { return std::holds_alternative<std::monostate>(data); }
};

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
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> row);  // LogicError unless there is one cell per column

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// The rows as a list of fields, for a place inside a larger document.
Cell list_of(const Table& table);

// Ends with a newline. A table without rows still has its header.
std::string render(const Table& table, Format format);

// A single record: one "name  value" line per field for people, one JSON object, or CSV with one row.
std::string render(const Fields& record, Format format);

std::string to_json(const Cell& cell);

// For people: four significant digits, "lr=0.1 units=64" for fields.
std::string to_text(const Cell& cell);

}  // namespace bapi
