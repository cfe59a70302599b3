// How well the end of learning curves is forecast, on recorded ones:
//
//   bench_forecasts SEEDS TABLE... > cases.csv
//
// A state of a study is made of 8, 20 or 50 random rows of a table: all are trained to a tenth of the epochs, a half or
// a third of each rung (the better ones, now and then a random one) to two, four and eight tenths, half of the last
// ones to the end. Forecast is the best value by the last epoch, and by the next rung, of trials that were cut off and
// of rows that were not trained. One line for each; fit_spread.py makes factors and scores of them. Values are in units
// of the table, (value - median) / (best - median) of its last values, cut off at -2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>

#include "bapi/math/normal.h"
#include "bapi/model/expectations.h"
#include "bapi/studies/table_input.h"
#include "bapi/study/direction.h"
#include "bapi/study/metric_bounds.h"

namespace bapi {
namespace {

constexpr double kCutOff = -2.0;
constexpr int kNewRows = 40;

// The finite values of a row up to an epoch, to be maximised; a crash ends it.
std::vector<double> values_until(const CurveTable& table, std::size_t row, Epoch until) {
  std::vector<double> values;
  for (const double value : table.runs[row].value) {
    if (!std::isfinite(value) || std::ssize(values) == until) break;
    values.push_back(oriented(value, table.metric.goal));
  }
  return values;
}

double best_of(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

struct Unit {
  double median;
  double range;
  double of(double score) const { return std::max(kCutOff, (score - median) / range); }
};

// How far each of some rows of a table has been trained.
struct State {
  std::vector<std::size_t> rows;
  std::vector<Epoch> done;
  std::vector<std::size_t> others;
};

void shuffle(std::vector<std::size_t>& rows, Rng& rng) {
  for (std::size_t i = rows.size(); i > 1; --i)
    std::swap(rows[i - 1], rows[static_cast<std::size_t>(rng.below(static_cast<int>(i)))]);
}

State random_state(const CurveTable& table, int count, Rng& rng) {
  std::vector<std::size_t> order(table.runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::size_t row) { return values_until(table, row, 1).empty(); });
  shuffle(order, rng);
  const auto size = std::min<std::size_t>(static_cast<std::size_t>(count), order.size());
  State state{.rows = {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size)}, .done = {}, .others = {}};
  state.others.assign(order.begin() + static_cast<std::ptrdiff_t>(size), order.end());
  if (state.others.size() > kNewRows) state.others.resize(kNewRows);
  const auto epoch = [&](double share) {
    return std::max(1, static_cast<Epoch>(std::lround(share * table.max_epoch)));
  };
  state.done.assign(size, epoch(0.1));
  std::vector<std::size_t> rung(size);
  std::iota(rung.begin(), rung.end(), 0);
  for (const double share : {0.2, 0.4, 0.8, 1.0}) {
    std::stable_sort(rung.begin(), rung.end(), [&](std::size_t a, std::size_t b) {
      return best_of(values_until(table, state.rows[a], state.done[a])) >
             best_of(values_until(table, state.rows[b], state.done[b]));
    });
    if (rng.uniform() < 0.2)
      std::swap(rung.front(), rung[static_cast<std::size_t>(rng.below(static_cast<int>(rung.size())))]);
    const double part = share == 1.0 || rng.uniform() < 0.5 ? 0.5 : 1.0 / 3.0;
    rung.resize(std::max<std::size_t>(1, static_cast<std::size_t>(part * static_cast<double>(rung.size()))));
    for (const std::size_t i : rung) state.done[i] = epoch(share);
  }
  return state;
}

std::vector<LearningCurve> curves_of(const CurveTable& table, const State& state) {
  std::vector<LearningCurve> curves;
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    LearningCurve curve{.id = static_cast<CurveId>(i),
                        .x = table.space.encode(table.configs[state.rows[i]]),
                        .values = values_until(table, state.rows[i], state.done[i])};
    const auto whole = values_until(table, state.rows[i], table.max_epoch);
    if (std::ssize(whole) <= state.done[i]) curve.fate = CurveFate::ended;
    curves.push_back(std::move(curve));
  }
  return curves;
}

ScoreBounds bounds_of_scores(const CurveTable& table, const std::vector<LearningCurve>& curves) {
  std::vector<double> values;
  for (const LearningCurve& curve : curves) {
    for (const double value : curve.values) values.push_back(oriented(value, table.metric.goal));
  }
  const MetricBounds bounds = bounds_of(table.metric, values);
  const double a = oriented(bounds.low, table.metric.goal);
  const double b = oriented(bounds.high, table.metric.goal);
  return {.low = std::min(a, b), .high = std::max(a, b)};
}

// The mean pinball loss over all quantiles, twice: the continuous ranked probability score.
template <typename Quantile>
double crps(const Quantile& quantile, double truth, const Unit& unit) {
  constexpr int kParts = 200;
  double sum = 0.0;
  for (int k = 0; k < kParts; ++k) {
    const double share = (k + 0.5) / kParts;
    const double q = unit.of(quantile(normal_quantile(share)));
    sum += 2.0 * (truth < q ? 1.0 - share : -share) * (q - truth) / kParts;
  }
  return sum;
}

// The probability of a window of +-0.02 units around what came true, with 2 % of a uniform law, per width.
template <typename Quantile>
double log_score(const Quantile& quantile, double truth, const Unit& unit) {
  const auto below = [&](double limit, bool strictly) {
    double low = -9.0;
    double high = 9.0;
    for (int i = 0; i < 50; ++i) {
      const double z = std::midpoint(low, high);
      const double q = unit.of(quantile(z));
      ((strictly ? q < limit : q <= limit) ? low : high) = z;
    }
    return normal_cdf(low);
  };
  constexpr double kHalf = 0.02;
  const double within = std::max(0.0, below(truth + kHalf, false) - below(truth - kHalf, true)) / (2.0 * kHalf);
  return std::log(0.98 * within + 0.02 / (1.2 - kCutOff));
}

// The end of y = a - b t^-c, fitted to the running best.
double power_law(const std::vector<double>& values, Epoch then) {
  std::vector<double> best;
  for (const double value : values) best.push_back(best.empty() ? value : std::max(best.back(), value));
  if (best.size() < 3) return best.back();
  double least = 1e300;
  double end = best.back();
  for (double c = 0.1; c < 3.01; c += 0.1) {
    double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (std::size_t t = 0; t < best.size(); ++t) {
      const double x = std::pow(static_cast<double>(t + 1), -c);
      n += 1.0;
      sx += x;
      sy += best[t];
      sxx += x * x;
      sxy += x * best[t];
    }
    const double b = std::min(0.0, (n * sxy - sx * sy) / (n * sxx - sx * sx));
    const double a = (sy - b * sx) / n;
    double error = 0.0;
    for (std::size_t t = 0; t < best.size(); ++t) {
      const double miss = best[t] - a - b * std::pow(static_cast<double>(t + 1), -c);
      error += miss * miss;
    }
    if (error >= least) continue;
    least = error;
    end = a + b * std::pow(static_cast<double>(then), -c);
  }
  return std::max(best.back(), end);
}

struct Fitted {
  CurveModel model;
  double reached_variance;
};

Fitted fitted(const std::vector<LearningCurve>& curves, const CurveTable& table, const ScoreBounds& bounds) {
  CurveModelOptions options;
  options.bounds = bounds;
  Rng rng(1);
  CurveModel model = CurveModel::fit(curves, {.min = 1, .max = table.max_epoch}, options, rng);
  const double variance = std::min(model.fluctuation, model.surrogate->noise());
  return {std::move(model), variance};
}

void tell(const CurveTable& table, const std::string& name, int count, int seed) {
  Rng rng = Rng(static_cast<std::uint64_t>(seed)).fork(name, static_cast<std::uint64_t>(count));
  const State state = random_state(table, count, rng);
  const std::vector<LearningCurve> curves = curves_of(table, state);
  const Unit unit{.median = table.median_final(), .range = table.best() - table.median_final()};
  const Fitted now = fitted(curves, table, bounds_of_scores(table, curves));
  const Fitted before = fitted(curves, table, {});
  const auto line = [&](const CurveAt& at, std::size_t row, Epoch then, const std::vector<double>& seen) {
    const std::vector<double> whole = values_until(table, row, then);
    if (whole.empty()) return;
    const double truth = best_of(whole);
    const Prognosis law = prognosis_of(now.model, *now.model.surrogate, at, {then}, now.reached_variance);
    const Expectations expected = expectations(now.model, *now.model.surrogate, {at}, {then}, now.reached_variance);
    const Expectations old = expectations(before.model, *before.model.surrogate, {at}, {then}, before.reached_variance);
    const double noise = now.model.surrogate->noise();
    const double raw = std::sqrt(expected.latent_sd[0] * expected.latent_sd[0] + noise);
    const double old_mean = before.model.scale.undo(old.mean[0]);
    const double old_sd = std::sqrt(old.latent_sd[0] * old.latent_sd[0] + before.model.surrogate->noise()) *
                          before.model.scale.slope(old.mean[0]);
    const auto q = [&](double z) { return law.value(0, z); };
    const auto old_q = [&](double z) { return old_mean + old_sd * z; };
    const double truth_unit = unit.of(truth);
    fmt::print(
        "{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n",
        name,
        count,
        seed,
        at.done,
        then,
        table.max_epoch,
        expected.mean[0],
        raw,
        expected.latent_sd[0],
        seen.empty() ? -1e9 : now.model.reached.at(at.group),
        now.model.scale.apply(truth),
        truth_unit,
        seen.empty() ? -1e9 : unit.of(best_of(seen)),
        seen.empty() ? -1e9 : unit.of(power_law(seen, then)),
        crps(q, truth_unit, unit),
        log_score(q, truth_unit, unit),
        crps(old_q, truth_unit, unit),
        log_score(old_q, truth_unit, unit));
  };
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].fate == CurveFate::ended || curves[i].last_epoch() >= table.max_epoch) continue;
    const CurveAt at{.x = curves[i].x, .group = curves[i].id, .done = curves[i].last_epoch()};
    line(at, state.rows[i], table.max_epoch, curves[i].values);
    if (2 * at.done < table.max_epoch) line(at, state.rows[i], 2 * at.done, curves[i].values);
  }
  for (std::size_t k = 0; k < state.others.size(); ++k) {
    const CurveAt at{.x = table.space.encode(table.configs[state.others[k]]),
                     .group = static_cast<CurveId>(curves.size() + k)};
    line(at, state.others[k], table.max_epoch, {});
  }
}

}  // namespace
}  // namespace bapi

int main(int argc, char** argv) {
  try {
    bapi::require(argc > 2, "usage: bench_forecasts SEEDS TABLE...");
    fmt::print(
        "table,trials,seed,now,then,last,mean,raw_sd,latent_sd,reached,value,truth,shown,power,crps,log,crps_before,"
        "log_before\n");
    for (int i = 2; i < argc; ++i) {
      for (const std::string& name : bapi::table_names(argv[i])) {
        const bapi::CurveTable table = bapi::load_table(name);
        for (int seed = 1; seed <= std::stoi(argv[1]); ++seed) {
          for (const int count : {8, 20, 50}) bapi::tell(table, name, count, seed);
        }
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
