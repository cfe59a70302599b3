#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/search.h"
#include "bapi/gp/fit.h"
#include "bapi/gp/log_likelihood.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/planner/early_termination.h"
#include "report.h"
#include "synthetic.h"
#include "timing.h"

// Times of fitting and asking, one thread, d = 5, data from a random-Fourier Gaussian process. Next to each stands a
// floor: the flops of the same operation at the rate of a matrix product of that size, plus its kernel evaluations at
// their measured price.
namespace bapi::bench {
namespace {

constexpr int kDim = 5;
constexpr int kRawPoints = 512;
constexpr int kStarts = 10;

struct Machine {
  double flops_per_second;
  double seconds_per_kernel;
};

// At size n; measured once each.
const Machine& machine(int n) {
  static std::map<int, Machine> known;
  const auto it = known.find(n);
  if (it != known.end()) return it->second;
  Rng rng(1);
  const int repetitions = n <= 200 ? 200 : 20;
  Matrix a(n, n);
  for (Eigen::Index i = 0; i < a.size(); ++i) a(i) = rng.normal();
  Matrix product(n, n);
  const double gemm = best_seconds(repetitions, [&] { product.noalias() = a * a; });
  const Sample sample = configurations(n, kDim, rng);
  const Covariance covariance({.amplitude = 1.0,
                               .space = {SpaceKind::matern52, Vector::Constant(kDim, 0.5)},
                               .time = {.kind = TimeKind::constant}},
                              1);
  const double kernel =
      best_seconds(repetitions, [&] { benchmark::DoNotOptimize(covariance.cross(sample.rows, sample.rows)); });
  const double size = n;
  return known[n] = {.flops_per_second = 2.0 * size * size * size / gemm, .seconds_per_kernel = kernel / (size * size)};
}

double likelihood_floor(int n) {
  const double size = n;
  return size * size * size / machine(n).flops_per_second + size * size * machine(n).seconds_per_kernel;
}

// Screening `points` costs n^2 flops and n kernels each, a gradient twice that.
double ask_floor(int n, int gradients) {
  const double size = n;
  const double points = kRawPoints + 2.0 * gradients;
  return points * (size * size / machine(n).flops_per_second + size * machine(n).seconds_per_kernel);
}

double fit_floor(int n, const FitSummary& summary) {
  return summary.evaluations * likelihood_floor(n) +
         summary.screening_evaluations * likelihood_floor(std::min(n, FitOptions{}.screening_rows));
}

GpParameters plain() {
  GpParameters structure;
  structure.kernel.space.lengthscales = Vector::Ones(kDim);
  structure.kernel.time.kind = TimeKind::constant;
  return structure;
}

GpParameters curve_model() {
  GpParameters structure;
  structure.kernel.space.lengthscales = Vector::Ones(kDim);
  structure.kernel.own_amplitude = 0.1;
  return structure;
}

FitOptions fit_options(const GpParameters& structure) {
  return {.priors = structure.kernel.time.kind == TimeKind::constant ? HyperPriors::for_configurations()
                                                                     : HyperPriors::for_curves()};
}

struct Asked {
  double score = 0.0;
  int gradients = 0;
};

// The maximum of log EI at the last epoch.
Asked ask(const ExactGp& gp, Rng& rng) {
  Asked asked;
  const double best = gp.y().maxCoeff();
  const Epoch last = gp.rows().max_epoch;
  const auto rows = [&](const Matrix& points) {
    const std::vector<int> groups(static_cast<std::size_t>(points.cols()), -1);
    return Rows::at_epochs(points.transpose(), std::vector<Epoch>(groups.size(), last), last, groups);
  };
  const auto score = [&](const Matrix& points) {
    const Moments moments = gp.predict(rows(points));
    Vector scores(points.cols());
    for (Eigen::Index i = 0; i < scores.size(); ++i) {
      scores(i) = log_expected_improvement(moments.mean(i), std::sqrt(moments.variance(i)), best);
    }
    return scores;
  };
  const auto ascend = [&](const Matrix& points, Vector& values, Matrix& gradients) {
    ImprovementGradients at = log_expected_improvement(gp, rows(points), best);
    values = std::move(at.log_values);
    gradients = std::move(at.gradients);
    asked.gradients += static_cast<int>(points.cols());
  };
  const std::vector<ScoredPoint> found = search_cube({.screen = score, .score = score, .ascend = ascend},
                                                     kDim,
                                                     Matrix(kDim, 0),
                                                     {},
                                                     {.raw_points = kRawPoints, .starts = kStarts},
                                                     rng);
  asked.score = found.empty() ? 0.0 : found.front().score;
  return asked;
}

void report(benchmark::State& state, int n, double floor_seconds, double target_seconds) {
  state.counters["n"] = n;
  state.counters["floor_s"] = floor_seconds;
  state.counters["target_s"] = target_seconds;
}

void likelihood(benchmark::State& state, int n, const GpParameters& structure, const Sample& sample) {
  LogLikelihood function(sample.rows, sample.y, structure);
  const Vector logs = JointPrior(fit_options(structure).priors, structure).mode();
  Vector gradient;
  for (auto _ : state) benchmark::DoNotOptimize(function(logs, gradient));
  report(state,
         n,
         likelihood_floor(n),
         n == 200   ? 2.5 * likelihood_floor(n)
         : n == 800 ? 1.5 * likelihood_floor(n)
                    : 0.0);
}

void cold_fit_and_ask(
    benchmark::State& state, int n, const GpParameters& structure, const Sample& sample, double target) {
  double floor = 0.0;
  for (auto _ : state) {
    Rng rng(7);
    const FitResult fitted = fit(sample.rows, sample.y, structure, fit_options(structure), rng);
    const Asked asked = ask(fitted.gp, rng);
    benchmark::DoNotOptimize(asked.score);
    floor = fit_floor(n, fitted.summary) + ask_floor(n, asked.gradients);
    state.counters["evaluations"] = fitted.summary.evaluations;
  }
  report(state, n, floor, target);
}

// One more configuration is told to a model that was fitted without it.
void warm_refit_and_ask(
    benchmark::State& state, int n, const GpParameters& structure, const Sample& sample, double target) {
  Rng rng(7);
  Rows before = sample.rows;
  before.truncate(n - 1);
  const FitResult old = fit(before, sample.y.head(n - 1), structure, fit_options(structure), rng);
  FitOptions options = fit_options(structure);
  options.warm_start = old.gp.parameters();
  options.restarts = 0;
  double floor = 0.0;
  for (auto _ : state) {
    const FitResult fitted = fit(sample.rows, sample.y, structure, options, rng);
    const Asked asked = ask(fitted.gp, rng);
    benchmark::DoNotOptimize(asked.score);
    floor = fit_floor(n, fitted.summary) + ask_floor(n, asked.gradients);
  }
  report(state, n, floor, target);
}

void ask_only(benchmark::State& state, int n, const GpParameters& structure, const Sample& sample, double target) {
  Rng rng(7);
  const FitResult fitted = fit(sample.rows, sample.y, structure, fit_options(structure), rng);
  double floor = 0.0;
  for (auto _ : state) {
    const Asked asked = ask(fitted.gp, rng);
    floor = ask_floor(n, asked.gradients);
    benchmark::DoNotOptimize(asked.score);
  }
  report(state, n, floor, target);
}

// A running configuration reports one epoch: append it, compute the conservative stop under the constraint, test.
void early_stop_check(benchmark::State& state, int n, const Sample& sample, double target) {
  Rng rng(7);
  FitResult fitted = fit(sample.rows, sample.y, curve_model(), fit_options(curve_model()), rng);
  const SlopeConstraint slopes = slope_constraint(fitted.gp, 1);
  const Vector x = Vector::Constant(kDim, 0.4);
  const int group = n + 1;
  const Rows reported = Rows::of_curve(x, {10}, kLastEpoch, group);
  const StopRule rule{.epsilon = 0.05, .min_epoch = 1, .max_epoch = kLastEpoch};
  const double best = sample.y.maxCoeff();
  for (auto _ : state) {
    fitted.gp.append(reported, Vector::Constant(1, 0.1));
    const MonotoneGp posterior(fitted.gp, Constraint::on_slopes(slopes, x, group));
    benchmark::DoNotOptimize(check_termination(posterior, {.x = x, .group = group, .done = 10}, best, rule));
    fitted.gp.pop(1);
  }
  // The new row, two slopes, two values and one transposed solve for the means.
  const double size = n;
  const double floor = 6.0 * size * size / machine(n).flops_per_second + 6.0 * size * machine(n).seconds_per_kernel;
  state.counters["microseconds"] = 1;
  report(state, n, floor, target);
}

template <typename Body>
void add(const std::string& name, int n, Body body) {
  const double seconds = n <= 200 ? 0.2 : 0.5;
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Unit(benchmark::kMillisecond)
      ->MinTime(seconds)
      ->Repetitions(5)
      ->ComputeStatistics("min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); })
      ->ReportAggregatesOnly(true);
}

void register_all() {
  static const std::map<int, std::array<double, 4>> targets = {{50, {2.5e-3, 1.5e-3, 1e-3, 20e-6}},
                                                               {100, {6e-3, 4e-3, 2e-3, 30e-6}},
                                                               {200, {25e-3, 15e-3, 6e-3, 50e-6}},
                                                               {400, {100e-3, 60e-3, 20e-3, 150e-6}},
                                                               {800, {650e-3, 400e-3, 80e-3, 400e-6}}};
  for (const auto& [size, target] : targets) {
    const int n = size;
    const std::array<double, 4> goal = target;
    Rng rng(11);
    const Sample plain_data = configurations(n, kDim, rng);
    const Sample curve_data = curves(n, kDim, rng);
    add("likelihood+gradient", n, [=](benchmark::State& s) { likelihood(s, n, plain(), plain_data); });
    add("likelihood+gradient, curves", n, [=](benchmark::State& s) { likelihood(s, n, curve_model(), curve_data); });
    add("cold fit + EI", n, [=](benchmark::State& s) { cold_fit_and_ask(s, n, plain(), plain_data, goal[0]); });
    add("cold fit + EI, curves", n, [=](benchmark::State& s) {
      cold_fit_and_ask(s, n, curve_model(), curve_data, 0.0);
    });
    add("tell + warm refit + EI", n, [=](benchmark::State& s) {
      warm_refit_and_ask(s, n, plain(), plain_data, goal[1]);
    });
    add("tell + warm refit + EI, curves", n, [=](benchmark::State& s) {
      warm_refit_and_ask(s, n, curve_model(), curve_data, 0.0);
    });
    add("ask without refit", n, [=](benchmark::State& s) { ask_only(s, n, plain(), plain_data, goal[2]); });
    add("early-stop check", n, [=](benchmark::State& s) { early_stop_check(s, n, curve_data, goal[3]); });
  }
}

}  // namespace
}  // namespace bapi::bench

int main(int argc, char** argv) { return bapi::bench::run_benchmarks(argc, argv, bapi::bench::register_all); }
