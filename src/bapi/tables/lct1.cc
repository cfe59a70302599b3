#include "bapi/tables/lct1.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "bapi/base/error.h"
#include "bapi/base/file.h"

namespace bapi {
namespace {

static_assert(std::endian::native == std::endian::little, "LCT1 files are read as they are in memory");

// Takes typed arrays off the front of a file's contents.
class Reader {
 public:
  Reader(std::string bytes, std::string file) : bytes_(std::move(bytes)), file_(std::move(file)) {}

  template <typename T>
  std::vector<T> take(std::size_t count) {
    const std::size_t size = count * sizeof(T);
    require(size <= bytes_.size() - at_,
            fmt::format("{}: {} bytes, expected at least {}", file_, bytes_.size(), at_ + size));
    std::vector<T> values(count);
    if (size > 0) std::memcpy(values.data(), bytes_.data() + at_, size);
    at_ += size;
    return values;
  }

 private:
  std::string bytes_;
  std::string file_;
  std::size_t at_ = 0;
};

struct Header {
  std::size_t configs, dims, aux, length, metrics;
  bool has_time;
};

Header read_header(Reader& reader, const std::string& file) {
  const std::vector<char> magic = reader.take<char>(4);
  require(std::string(magic.begin(), magic.end()) == "LCT1", fmt::format("{}: does not begin with LCT1", file));
  const auto n = reader.take<std::uint32_t>(7);
  require(n[0] == 1, fmt::format("{}: version {}, expected 1", file, n[0]));
  require(n[1] > 0 && n[2] > 0 && n[4] > 0 && n[5] > 0, fmt::format("{}: an empty table", file));
  return {n[1], n[2], n[3], n[4], n[5], n[6] != 0};
}

Scale scale_of(const std::string& text, double low, double high) {
  if (text == "log" && low > 0.0) return Scale::log;
  if (text == "log1m" && high < 1.0) return Scale::log_complement;
  return Scale::linear;
}

Param param_of(const nlohmann::json& hp, const std::vector<double>& column) {
  const auto [low, high] = std::minmax_element(column.begin(), column.end());
  const double a = std::min(hp.value("lower", *low), *low);
  const double b = std::max(hp.value("upper", *high), *high);
  const std::string name = hp.at("name").get<std::string>();
  if (!(a < b)) return {.name = name, .domain = Constant{a}};
  return {.name = name, .domain = RealRange{.low = a, .high = b, .scale = scale_of(hp.value("scale", "linear"), a, b)}};
}

// Cumulative time to the time of each epoch; a record that steps back costs nothing there.
std::vector<double> epoch_costs(const float* cumulative, std::size_t length) {
  std::vector<double> costs;
  double before = 0.0;
  for (std::size_t t = 0; t < length; ++t) {
    const double now = std::isfinite(cumulative[t]) ? std::max(before, static_cast<double>(cumulative[t])) : before;
    costs.push_back(now - before);
    before = now;
  }
  return costs;
}

}  // namespace

CurveTable read_lct1(const std::filesystem::path& path) {
  const std::filesystem::path bin = std::filesystem::path(path).replace_extension(".bin");
  const std::filesystem::path text = std::filesystem::path(path).replace_extension(".json");
  const nlohmann::json meta = nlohmann::json::parse(contents_of(text), nullptr, false);
  require(meta.is_object() && meta.contains("hp") && meta.contains("metrics"),
          fmt::format("{}: expected a JSON object with hp and metrics", text.string()));
  Reader reader(contents_of(bin), bin.string());
  const Header header = read_header(reader, bin.string());
  require(meta["hp"].size() == header.dims,
          fmt::format("{}: {} parameters, {} has {}", text.string(), meta["hp"].size(), bin.string(), header.dims));

  const auto hp = reader.take<double>(header.configs * header.dims);
  reader.take<double>(header.configs * header.aux);
  const auto length = reader.take<std::uint32_t>(header.configs);
  const auto metrics = reader.take<float>(header.metrics * header.configs * header.length);
  const auto time = reader.take<float>(header.has_time ? header.configs * header.length : 0);

  CurveTable table;
  table.name = meta.value("name", bin.stem().string());
  const nlohmann::json& objective = meta["metrics"].at(0);
  table.metric = {.name = objective.at("name").get<std::string>(),
                  .goal = objective.value("maximize", true) ? Goal::maximize : Goal::minimize};
  table.cost_unit = header.has_time ? "s" : "epochs";
  table.max_epoch = static_cast<Epoch>(header.length);
  std::vector<Param> params;
  for (std::size_t j = 0; j < header.dims; ++j) {
    std::vector<double> column;
    for (std::size_t i = 0; i < header.configs; ++i) column.push_back(hp[i * header.dims + j]);
    params.push_back(param_of(meta["hp"][j], column));
  }
  table.space = Space(std::move(params));
  for (std::size_t i = 0; i < header.configs; ++i) {
    require(length[i] <= header.length,
            fmt::format("{}: row {} has {} epochs, the table {}", bin.string(), i, length[i], header.length));
    Config config;
    for (std::size_t j = 0; j < header.dims; ++j) config.values.emplace_back(hp[i * header.dims + j]);
    if (length[i] == 0 || std::find(table.configs.begin(), table.configs.end(), config) != table.configs.end())
      continue;
    const float* values = metrics.data() + i * header.length;
    table.configs.push_back(std::move(config));
    table.runs.push_back({.value = {values, values + length[i]},
                          .cost = header.has_time ? epoch_costs(time.data() + i * header.length, length[i])
                                                  : std::vector<double>(length[i], 1.0)});
  }
  table.validate();
  return table;
}

}  // namespace bapi
