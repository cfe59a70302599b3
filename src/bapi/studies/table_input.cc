#include "bapi/studies/table_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/store/study_dir.h"
#include "bapi/studies/study_view.h"
#include "bapi/tables/csv_table.h"
#include "bapi/tables/lct1.h"
#include "bapi/tables/network_surrogate.h"
#include "bapi/tables/synthetic.h"

namespace bapi {
namespace {

int parse_count(const std::string& text, const std::string& where) {
  return static_cast<int>(parse_whole_number(text, 1, std::numeric_limits<int>::max(), where));
}

std::uint64_t parse_seed(const std::string& text, const std::string& where) {
  return parse_whole_number(text, 0, std::numeric_limits<std::uint64_t>::max(), where);
}

// SHAPE[,rows=N][,dims=N][,epochs=N][,seed=N][,cost_ratio=R][,noise=S][,failures=P][,crash=P]
CurveTable load_synthetic(const std::string& text) {
  SyntheticOptions options;
  const std::vector<std::string> parts = split(text, ',');
  require(!parts.empty(), "synthetic: expected the shape of the curves, as in synthetic:power-law");
  options.shape = parse_curve_shape(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    require(equals != std::string::npos, fmt::format("synthetic: found \"{}\", expected name=value", parts[i]));
    const std::string name = parts[i].substr(0, equals);
    const std::string value = parts[i].substr(equals + 1);
    const std::string where = "synthetic:" + name;
    if (name == "rows")
      options.rows = parse_count(value, where);
    else if (name == "dims")
      options.dimensions = parse_count(value, where);
    else if (name == "epochs")
      options.epochs = parse_count(value, where);
    else if (name == "seed")
      options.seed = parse_seed(value, where);
    else if (name == "cost_ratio")
      options.cost_ratio = parse_number(value, where);
    else if (name == "noise")
      options.noise = parse_number(value, where);
    else if (name == "failures")
      options.failures = parse_number(value, where);
    else if (name == "crash")
      options.crash = parse_number(value, where);
    else
      throw InvalidInput(fmt::format(
          "synthetic: unknown option {}; expected rows, dims, epochs, seed, cost_ratio, noise, failures or crash",
          name));
  }
  CurveTable table = synthetic_table(options);
  table.name = text;
  return table;
}

// FILE.json:TASK[,rows=N][,seed=N][,any]
CurveTable load_network(const std::string& file, const std::string& text, int draw) {
  NetworkTableOptions options{.task = {}, .rows = draw};
  const std::vector<std::string> parts = split(text, ',');
  if (parts.empty() || parts.front().empty()) {
    const std::vector<std::string> tasks = network_tasks(file);
    throw InvalidInput(
        fmt::format("{}: which of its tasks? Say {}:TASK; there are {}", file, file, fmt::join(tasks, ", ")));
  }
  options.task = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] == "any")
      options.answers = NetworkTableOptions::Answers::any;
    else if (parts[i].starts_with("rows="))
      options.rows = parse_count(parts[i].substr(5), file + ": rows");
    else if (parts[i].starts_with("seed="))
      options.seed = parse_seed(parts[i].substr(5), file + ": seed");
    else
      throw InvalidInput(fmt::format("{}: found \"{}\", expected rows=N, seed=N or any", file, parts[i]));
  }
  return read_network_surrogate(file, options);
}

bool is_lct1(const std::filesystem::path& bin) {
  return bin.extension() == ".bin" && std::filesystem::exists(std::filesystem::path(bin).replace_extension(".json"));
}

bool is_network(const std::filesystem::path& json) {
  return json.extension() == ".json" &&
         std::filesystem::exists(std::filesystem::path(json).replace_extension(".weights"));
}

bool is_study(const std::filesystem::path& path) { return std::filesystem::exists(StudyDir(path).database()); }

std::vector<std::string> names_in_index(const std::filesystem::path& index) {
  std::vector<std::string> names;
  for (const std::string& name : csv_column(contents_of(index), "table", index.string())) {
    names.push_back((index.parent_path() / name).string());
  }
  return names;
}

std::vector<std::string> names_in_directory(const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory / "INDEX.csv")) return names_in_index(directory / "INDEX.csv");
  std::vector<std::string> names;
  for (auto entry = std::filesystem::recursive_directory_iterator(directory);
       entry != std::filesystem::recursive_directory_iterator();
       ++entry) {
    const std::filesystem::path& path = entry->path();
    if (entry->is_directory()) {
      if (!is_study(path)) continue;
      entry.disable_recursion_pending();
      names.push_back(path.string());
    } else if (is_lct1(path) || (path.extension() == ".csv" && is_csv_table(contents_of(path)))) {
      names.push_back(path.string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

CurveTable load_table(const std::string& text, const TableInputOptions& options) {
  if (text.starts_with("synthetic:")) return load_synthetic(text.substr(10));
  if (const std::size_t at = text.find(".json:"); at != std::string::npos) {
    return load_network(text.substr(0, at + 5), text.substr(at + 6), options.draw);
  }
  const std::filesystem::path path(text);
  if (is_network(path)) return load_network(text, "", options.draw);
  if (path.extension() == ".csv") return read_csv_table(text);
  if (path.extension() == ".bin" || path.extension() == ".json") return read_lct1(path);
  if (std::filesystem::exists(text + ".bin")) return read_lct1(text + ".bin");
  return table_of(open_study(text).history);
}

std::vector<EarlierTable> earlier_tables(const std::vector<std::string>& names,
                                         const std::string& budget,
                                         const TableInputOptions& options) {
  std::vector<EarlierTable> tables;
  for (const std::string& name : names) {
    tables.push_back({.table = load_table(name, options)});
    std::error_code ignored;
    if (!std::filesystem::is_directory(name, ignored)) tables.back().budget = parse_table_budget(budget);
  }
  return tables;
}

std::vector<std::string> table_names(const std::string& text) {
  std::vector<std::string> names;
  if (is_network(text)) {
    for (const std::string& task : network_tasks(text)) names.push_back(fmt::format("{}:{}", text, task));
  } else if (std::filesystem::is_directory(text) && !is_study(text)) {
    names = names_in_directory(text);
  } else if (text.ends_with(".csv") && !is_csv_table(contents_of(text))) {
    names = names_in_index(text);
  } else {
    names.push_back(text);
  }
  require(!names.empty(), fmt::format("{}: there is no table in it", text));
  return names;
}

}  // namespace bapi
