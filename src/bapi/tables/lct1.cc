#include "bapi/tables/lct1.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/tables/byte_array.h"
#include "bapi/tables/json_field.h"

namespace bapi {
namespace {

static_assert(std::endian::native == std::endian::little, "LCT1 files are read as they are in memory");

// Takes typed arrays off the front of a file's contents.
class Reader {
 public:
  Reader(std::string_view bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  template <typename T>
  std::vector<T> take(std::initializer_list<std::size_t> shape) {
    const std::size_t count = saturated_product(shape);
    const std::size_t end = bytes_needed(at_, count, sizeof(T));
    require(end <= bytes_.size(), fmt::format("{}: {} bytes, expected at least {}", file_, bytes_.size(), end));
    return array_at<T>(bytes_, std::exchange(at_, end), count);
  }

 private:
  std::string_view bytes_;
  std::string file_;
  std::size_t at_ = 0;
};

constexpr std::uint32_t kLongestCurve = 1'000'000'000;  // epochs are counted in an int

struct Lct1Header {
  std::size_t configs, dims, aux, length, metrics;
  bool has_time;
};

Lct1Header read_header(Reader& reader, const std::string& file) {
  const std::vector<char> magic = reader.take<char>({4});
  require(std::string(magic.begin(), magic.end()) == "LCT1", fmt::format("{}: does not begin with LCT1", file));
  const auto n = reader.take<std::uint32_t>({7});
  require(n[0] == 1, fmt::format("{}: version {}, expected 1", file, n[0]));
  require(n[1] > 0 && n[2] > 0 && n[4] > 0 && n[5] > 0, fmt::format("{}: an empty table", file));
  require(n[4] <= kLongestCurve,
          fmt::format("{}: curves of {} epochs, expected at most {}", file, n[4], kLongestCurve));
  return {n[1], n[2], n[3], n[4], n[5], n[6] != 0};
}

Scale scale_of(const std::string& text, double low, double high) {
  if (text == "log" && low > 0.0) return Scale::log;
  if (text == "log1m" && high < 1.0) return Scale::log_complement;
  return Scale::linear;
}

Param param_of(const JsonField& hp, const std::vector<double>& column) {
  const auto [low, high] = std::minmax_element(column.begin(), column.end());
  const auto lower = hp.find("lower");
  const auto upper = hp.find("upper");
  const auto scale = hp.find("scale");
  const double a = lower ? std::min(lower->number(), *low) : *low;
  const double b = upper ? std::max(upper->number(), *high) : *high;
  const std::string name = hp.at("name").text();
  if (!(a < b)) return {.name = name, .domain = Constant{a}};
  return {.name = name,
          .domain = RealRange{.low = a, .high = b, .scale = scale_of(scale ? scale->text() : "linear", a, b)}};
}

// The j-th parameter of every configuration.
std::vector<double> column_of(const std::vector<double>& hp, std::size_t j, const Lct1Header& header) {
  std::vector<double> column;
  for (std::size_t i = 0; i < header.configs; ++i) column.push_back(hp[i * header.dims + j]);
  return column;
}

Space space_of(const JsonField& params,
               const std::vector<double>& hp,
               const Lct1Header& header,
               const std::string& file) {
  const std::vector<JsonField> fields = params.items();
  params.require(fields.size() == header.dims,
                 fmt::format("{} parameters, {} has {}", fields.size(), file, header.dims));
  for (std::size_t k = 0; k < hp.size(); ++k) {
    require(std::isfinite(hp[k]),
            fmt::format("{}: row {} has a parameter of {}, expected a number", file, k / header.dims, hp[k]));
  }
  std::vector<Param> space;
  for (std::size_t j = 0; j < header.dims; ++j) space.push_back(param_of(fields[j], column_of(hp, j, header)));
  return Space(std::move(space));
}

Metric metric_of(const JsonField& metrics) {
  const std::vector<JsonField> fields = metrics.items();
  metrics.require(!fields.empty(), "the list is empty, expected the metric first");
  const auto maximize = fields.front().find("maximize");
  return {.name = fields.front().at("name").text(),
          .goal = !maximize || maximize->flag() ? Goal::maximize : Goal::minimize};
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

CurveTable parse_lct1(std::string_view json, std::string_view data, const std::filesystem::path& path) {
  const std::string bin = std::filesystem::path(path).replace_extension(".bin").string();
  const std::string text = std::filesystem::path(path).replace_extension(".json").string();
  const nlohmann::json document = parse_json(json, text);
  const JsonField meta(document, text);
  Reader reader(data, bin);
  const Lct1Header header = read_header(reader, bin);
  const auto hp = reader.take<double>({header.configs, header.dims});
  reader.take<double>({header.configs, header.aux});
  const auto length = reader.take<std::uint32_t>({header.configs});
  const auto metrics = reader.take<float>({header.metrics, header.configs, header.length});
  const auto time = reader.take<float>({header.has_time ? 1U : 0U, header.configs, header.length});

  CurveTable table;
  const auto name = meta.find("name");
  table.name = name ? name->text() : std::filesystem::path(bin).stem().string();
  table.metric = metric_of(meta.at("metrics"));
  table.cost_unit = header.has_time ? "s" : "epochs";
  table.max_epoch = static_cast<Epoch>(header.length);
  table.space = space_of(meta.at("hp"), hp, header, bin);
  std::set<std::vector<double>> known;
  for (std::size_t i = 0; i < header.configs; ++i) {
    require(length[i] <= header.length,
            fmt::format("{}: row {} has {} epochs, the table {}", bin, i, length[i], header.length));
    const std::span<const double> row = std::span(hp).subspan(i * header.dims, header.dims);
    if (length[i] == 0 || !known.emplace(row.begin(), row.end()).second) continue;
    const float* values = metrics.data() + i * header.length;
    table.configs.push_back({.values = {row.begin(), row.end()}});
    table.runs.push_back({.value = {values, values + length[i]},
                          .cost = header.has_time ? epoch_costs(time.data() + i * header.length, length[i])
                                                  : std::vector<double>(length[i], 1.0)});
  }
  table.validate();
  return table;
}

CurveTable read_lct1(const std::filesystem::path& path) {
  const std::string json = contents_of(std::filesystem::path(path).replace_extension(".json"));
  return parse_lct1(json, contents_of(std::filesystem::path(path).replace_extension(".bin")), path);
}

}  // namespace bapi
