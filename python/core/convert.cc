#include "convert.h"

#include <fmt/format.h>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/base/utf8.h"
#include "bapi/space/choice.h"
#include "bapi/study/names.h"

namespace bapi::python {

namespace py = pybind11;

namespace {

std::string shown(const py::handle& object) { return py::repr(object).cast<std::string>(); }

// Anything with __index__ or __float__: int, float, numpy's scalars.
std::optional<Value> number_of(const py::handle& object, const std::string& where) {
  if (PyIndex_Check(object.ptr())) {
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (!whole) throw py::error_already_set();
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    require(overflow == 0, fmt::format("{}: found {}, which does not fit 64 bits", where, shown(object)));
    return Value(static_cast<std::int64_t>(number));
  }
  if (PyFloat_Check(object.ptr()) || (PyNumber_Check(object.ptr()) && py::hasattr(object, "__float__"))) {
    const double number = PyFloat_AsDouble(object.ptr());
    if (number == -1.0 && PyErr_Occurred()) throw py::error_already_set();
    return Value(number);
  }
  return std::nullopt;
}

bool is_bool(const py::handle& object) {
  return PyBool_Check(object.ptr()) || std::string_view(Py_TYPE(object.ptr())->tp_name) == "numpy.bool_" ||
         std::string_view(Py_TYPE(object.ptr())->tp_name) == "numpy.bool";
}

}  // namespace

Value value_of(const py::handle& object, const std::string& where) {
  if (object.is_none()) return std::monostate{};
  if (is_bool(object)) return Value(PyObject_IsTrue(object.ptr()) == 1);
  if (py::isinstance<py::str>(object)) return Value(object.cast<std::string>());
  if (const std::optional<Value> number = number_of(object, where)) return *number;
  throw InvalidInput(
      fmt::format("{}: found {}, expected a number, a string, True, False or None", where, shown(object)));
}

py::str text_to_python(const std::string& text) { return {well_formed(text)}; }

py::object to_python(const Value& value) {
  return std::visit(Match{[](std::monostate) -> py::object { return py::none(); },
                          [](bool flag) -> py::object { return py::bool_(flag); },
                          [](std::int64_t whole) -> py::object { return py::int_(whole); },
                          [](double number) -> py::object { return py::float_(number); },
                          [](const std::string& text) -> py::object { return text_to_python(text); }},
                    value);
}

py::dict to_python(const Config& config, const Space& space) {
  py::dict values;
  for (std::size_t i = 0; i < space.params().size(); ++i) {
    if (std::holds_alternative<std::monostate>(config.values[i])) continue;
    values[text_to_python(space.params()[i].name)] = to_python(config.values[i]);
  }
  return values;
}

Config config_of(const py::dict& values, const Space& space) {
  Config config;
  std::size_t used = 0;
  for (const Param& param : space.params()) {
    const py::str name(param.name);
    if (!values.contains(name)) {
      config.values.emplace_back(std::monostate{});
      continue;
    }
    ++used;
    Value value = value_of(values[name], param.name);
    const bool real = std::holds_alternative<RealRange>(param.domain);
    if (const auto* whole = std::get_if<std::int64_t>(&value); whole && real) value = static_cast<double>(*whole);
    config.values.push_back(value);
  }
  for (const auto& [name, value] : values) {
    if (used == values.size()) break;
    const std::string text = name.cast<std::string>();
    const bool known = std::any_of(
        space.params().begin(), space.params().end(), [&](const Param& param) { return param.name == text; });
    require(known, fmt::format("the space has no parameter {}", text));
  }
  space.validate(config);
  return config;
}

py::object to_python(const Cell& cell) {
  switch (cell.type()) {
    case Cell::value_t::boolean:
      return py::bool_(cell.get<bool>());
    case Cell::value_t::number_integer:
      return py::int_(cell.get<std::int64_t>());
    case Cell::value_t::number_unsigned:
      return py::int_(cell.get<std::uint64_t>());
    case Cell::value_t::number_float:
      return py::float_(cell.get<double>());
    case Cell::value_t::string:
      return text_to_python(cell.get_ref<const std::string&>());
    case Cell::value_t::object: {
      py::dict record;
      for (const auto& [name, value] : cell.get_ref<const Fields&>()) record[text_to_python(name)] = to_python(value);
      return record;
    }
    case Cell::value_t::array: {
      py::list items;
      for (const Cell& item : cell) items.append(to_python(item));
      return items;
    }
    default:
      return py::none();
  }
}

py::list to_python(const Table& table) {
  py::list rows;
  for (const std::vector<Cell>& row : table.rows()) {
    py::dict record;
    for (std::size_t i = 0; i < row.size(); ++i) record[py::str(table.columns()[i])] = to_python(row[i]);
    rows.append(std::move(record));
  }
  return rows;
}

namespace {

std::vector<Value> values_of(const py::handle& list, const std::string& where) {
  std::vector<Value> values;
  for (const py::handle item : list) values.push_back(value_of(item, where));
  return values;
}

std::int64_t whole_of(const py::handle& object, const std::string& where) {
  const Value value = value_of(object, where);
  const auto* whole = std::get_if<std::int64_t>(&value);
  require(whole != nullptr, fmt::format("{}: found {}, expected a whole number", where, shown(object)));
  return *whole;
}

double real_of(const py::handle& object, const std::string& where) {
  const Value value = value_of(object, where);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&value);
  require(real != nullptr, fmt::format("{}: found {}, expected a number", where, shown(object)));
  return *real;
}

Domain domain_of(const std::string& kind, const py::tuple& param, const std::string& where) {
  const Scale scale = param[4].cast<bool>() ? Scale::log : Scale::linear;
  if (kind == "float") return RealRange{real_of(param[2], where), real_of(param[3], where), scale};
  if (kind == "int") return IntRange{whole_of(param[2], where), whole_of(param[3], where), scale};
  if (kind == "constant") return Constant{value_of(param[2], where)};
  if (kind == "ordered") return Choice{values_of(param[5], where), Choice::Order::ordered};
  if (kind == "unordered") return Choice{values_of(param[5], where), Choice::Order::unordered};
  return choice_of(values_of(param[5], where));
}

}  // namespace

Space space_of(const py::list& params) {
  std::vector<Param> made;
  for (const py::handle item : params) {
    const auto param = item.cast<py::tuple>();
    const auto name = param[0].cast<std::string>();
    if (const auto mistake = param_name_mistake(name)) throw InvalidInput(fmt::format("space: {}", *mistake));
    Param one{.name = name, .domain = domain_of(param[1].cast<std::string>(), param, fmt::format("space.{}", name))};
    for (const auto& [other, values] : param[6].cast<py::dict>()) {
      one.when.push_back({.param = other.cast<std::string>(), .values = values_of(values, "space." + name + ".when")});
    }
    made.push_back(std::move(one));
  }
  return Space(std::move(made));
}

}  // namespace bapi::python
