#include "bapi/cli/table_input.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "bapi/base/error.h"
#include "bapi/cli/study_view.h"
#include "bapi/run/csv_table.h"
#include "bapi/run/lct1.h"
#include "bapi/run/network_surrogate.h"
#include "bapi/run/synthetic.h"

namespace bapi {
namespace {

double number_of(const std::string& text, const std::string& where) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size(),
          fmt::format("{}: found \"{}\", expected a number", where, text));
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// SHAPE[,rows=N][,dims=N][,epochs=N][,seed=N][,cost_ratio=R][,noise=S]
CurveTable load_synthetic(const std::string& text) {
  SyntheticOptions options;
  const std::vector<std::string> parts = split(text, ',');
  require(!parts.empty(), "synthetic: expected the shape of the curves, as in synthetic:power-law");
  options.shape = parse_curve_shape(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    require(equals != std::string::npos, fmt::format("synthetic: found \"{}\", expected name=value", parts[i]));
    const std::string name = parts[i].substr(0, equals);
    const double value = number_of(parts[i].substr(equals + 1), "synthetic:" + name);
    if (name == "rows")
      options.rows = static_cast<int>(value);
    else if (name == "dims")
      options.dimensions = static_cast<int>(value);
    else if (name == "epochs")
      options.epochs = static_cast<Epoch>(value);
    else if (name == "seed")
      options.seed = static_cast<std::uint64_t>(value);
    else if (name == "cost_ratio")
      options.cost_ratio = value;
    else if (name == "noise")
      options.noise = value;
    else
      throw InvalidInput(
          fmt::format("synthetic: there is no {}; expected rows, dims, epochs, seed, cost_ratio or noise", name));
  }
  return synthetic_table(options);
}

// FILE.json:TASK[,rows=N][,seed=N][,any]
CurveTable load_network(const std::string& file, const std::string& text) {
  NetworkTableOptions options;
  const std::vector<std::string> parts = split(text, ',');
  require(!parts.empty(), fmt::format("{}: expected a task, as in {}:126026", file, file));
  options.task = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] == "any")
      options.answers = NetworkTableOptions::Answers::any;
    else if (parts[i].starts_with("rows="))
      options.rows = static_cast<int>(number_of(parts[i].substr(5), file));
    else if (parts[i].starts_with("seed="))
      options.seed = static_cast<std::uint64_t>(number_of(parts[i].substr(5), file));
    else
      throw InvalidInput(fmt::format("{}: found \"{}\", expected rows=N, seed=N or any", file, parts[i]));
  }
  return read_network_surrogate(file, options);
}

}  // namespace

CurveTable load_table(const std::string& text) {
  if (text.starts_with("synthetic:")) return load_synthetic(text.substr(10));
  if (const std::size_t at = text.find(".json:"); at != std::string::npos) {
    return load_network(text.substr(0, at + 5), text.substr(at + 6));
  }
  const std::filesystem::path path(text);
  if (path.extension() == ".csv") return read_csv_table(text);
  if (path.extension() == ".bin" || path.extension() == ".json") return read_lct1(path);
  return table_of(open_study(text).history);
}

Cost parse_table_budget(const std::string& text, const CurveTable& table) {
  const bool full = text.ends_with("full");
  const Cost value = number_of(full ? text.substr(0, text.size() - 4) : text, "--budget");
  require(std::isfinite(value) && value > 0.0, fmt::format("--budget {}: must be positive", text));
  return full ? value * table.mean_full_cost() : value;
}

}  // namespace bapi
