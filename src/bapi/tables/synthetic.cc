#include "bapi/tables/synthetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// A smooth random function of the unit cube with values in [0, 1]: a sum of a few waves through the normal cdf.
class Landscape {
 public:
  Landscape(int dimensions, Rng rng) {
    for (int w = 0; w < 12; ++w) {
      Wave wave{.direction = Vector(dimensions), .phase = 2.0 * M_PI * rng.uniform()};
      for (double& component : wave.direction) component = 3.0 * rng.normal() / std::sqrt(dimensions);
      waves_.push_back(std::move(wave));
    }
  }

  double operator()(const Vector& x) const {
    double sum = 0.0;
    for (const Wave& wave : waves_) sum += std::cos(wave.direction.dot(x) + wave.phase);
    return 0.5 * std::erfc(-sum / std::sqrt(static_cast<double>(waves_.size())));
  }

 private:
  struct Wave {
    Vector direction;
    double phase = 0.0;
  };
  std::vector<Wave> waves_;
};

// Progress in [0, 1] at tau = t / t_max, for a configuration of the given speed in [0, 1].
double progress(CurveShape shape, double tau, double speed) {
  if (shape == CurveShape::sigmoid) return 1.0 / (1.0 + std::exp(-20.0 * (tau - 0.7 + 0.5 * speed)));
  if (shape == CurveShape::late) {
    const double onset = 0.35 + 0.2 * (1.0 - speed);
    return tau <= onset ? 0.0 : 1.0 - std::pow(1.0 + 20.0 * (tau - onset) / (1.0 - onset), -1.0);
  }
  const double rate = 0.5 + 8.0 * speed;
  return 1.0 - std::pow(1.0 + 10.0 * tau, -rate / 4.0);
}

// Breaks a training down in `epoch`, which is paid for.
void fail_in(CurveTable::Run& run, Epoch epoch) {
  const auto count = static_cast<std::size_t>(epoch);
  if (count > run.value.size()) return;  // it has ended before
  run.value.resize(count);
  run.cost.resize(count);
  run.value.back() = std::numeric_limits<double>::quiet_NaN();
  run.complete = false;
}

void fail_by_luck(CurveTable& table, double share, Rng rng) {
  for (CurveTable::Run& run : table.runs) {
    const bool fails = rng.uniform() < share;
    const Epoch epoch = 1 + rng.below(table.max_epoch);
    if (fails) fail_in(run, epoch);
  }
}

// As a learning rate that is too high does.
void crash_region(CurveTable& table, double share) {
  std::vector<std::pair<double, std::size_t>> rows;
  for (std::size_t i = 0; i < table.configs.size(); ++i) {
    rows.emplace_back(table.space.encode(table.configs[i])[0], i);
  }
  std::sort(rows.rbegin(), rows.rend());
  rows.resize(static_cast<std::size_t>(std::lround(share * static_cast<double>(rows.size()))));
  for (const auto& [x1, row] : rows) fail_in(table.runs[row], 1);
}

}  // namespace

void SyntheticOptions::validate() const {
  require(rows >= 2 && rows <= 100000, fmt::format("synthetic: rows = {}, must be from 2 to 100000", rows));
  require(dimensions >= 1 && dimensions <= 1000,
          fmt::format("synthetic: dims = {}, must be from 1 to 1000", dimensions));
  require(epochs >= 2 && epochs <= 100000, fmt::format("synthetic: epochs = {}, must be from 2 to 100000", epochs));
  constexpr std::int64_t kMostValues = 20'000'000;
  require(std::int64_t{rows} * epochs <= kMostValues,
          fmt::format("synthetic: {} rows of {} epochs, must be at most {} values", rows, epochs, kMostValues));
  require(cost_ratio >= 1.0 && std::isfinite(cost_ratio),
          fmt::format("synthetic: cost_ratio = {}, must be at least 1", cost_ratio));
  require(noise >= 0.0 && std::isfinite(noise), fmt::format("synthetic: noise = {}, must not be negative", noise));
  require(failures >= 0.0 && failures < 1.0,
          fmt::format("synthetic: failures = {}, must be a share from 0 to below 1", failures));
  require(crash >= 0.0 && crash < 1.0, fmt::format("synthetic: crash = {}, must be a share from 0 to below 1", crash));
}

std::vector<std::string> curve_shapes() { return {"power-law", "sigmoid", "diverging", "crossing", "late"}; }

CurveShape parse_curve_shape(const std::string& text) {
  const std::vector<std::string> names = curve_shapes();
  const auto found = std::find(names.begin(), names.end(), text);
  require(found != names.end(), fmt::format("{} is not a shape of curves; there are {}", text, fmt::join(names, ", ")));
  return static_cast<CurveShape>(found - names.begin());
}

CurveTable synthetic_table(const SyntheticOptions& options) {
  options.validate();
  const Rng rng = Rng(options.seed).fork("synthetic");
  const Landscape quality(options.dimensions, rng.fork("quality"));
  const Landscape speed(options.dimensions, rng.fork("speed"));
  const Landscape price(options.dimensions, rng.fork("price"));
  CurveTable table;
  table.name = curve_shapes()[static_cast<std::size_t>(options.shape)];
  table.metric = {.name = "accuracy", .goal = Goal::maximize};
  table.cost_unit = std::string("s");
  table.max_epoch = options.epochs;
  std::vector<Param> params;
  for (int j = 0; j < options.dimensions; ++j)
    params.push_back({.name = fmt::format("x{}", j + 1), .domain = RealRange{}});
  table.space = Space(std::move(params));
  Rng draw = rng.fork("rows");
  for (int i = 0; i < options.rows; ++i) {
    const Config config = table.space.sample(draw);
    const Vector x = table.space.encode(config);
    const double end = 0.3 + 0.65 * quality(x);
    // Crossing curves: the better the end, the slower the start.
    const double pace = options.shape == CurveShape::crossing ? 1.0 - quality(x) : speed(x);
    const bool explodes = options.shape == CurveShape::diverging && speed(x) > 0.67;
    CurveTable::Run run;
    for (Epoch t = 1; t <= options.epochs; ++t) {
      const double tau = static_cast<double>(t) / options.epochs;
      double value = 0.1 + (end - 0.1) * progress(options.shape, tau, pace) + options.noise * draw.normal();
      if (explodes && tau > 0.2) value = tau > 0.4 ? std::numeric_limits<double>::quiet_NaN() : -std::exp(100.0 * tau);
      run.value.push_back(value);
      run.cost.push_back(std::pow(options.cost_ratio, price(x)));
      if (!std::isfinite(value)) break;
    }
    table.configs.push_back(config);
    table.runs.push_back(std::move(run));
  }
  fail_by_luck(table, options.failures, rng.fork("failures"));
  crash_region(table, options.crash);
  table.validate();
  return table;
}

}  // namespace bapi
