#include "synthetic.h"

#include <cmath>
#include <numbers>

#include "bapi/gp/response.h"

namespace bapi::bench {
namespace {

constexpr int kFeatures = 256;
constexpr double kLengthscale = 0.4;
constexpr double kNoise = 0.05;
constexpr int kRowsPerCurve = 4;

Vector uniform_point(int dim, Rng& rng) {
  Vector x(dim);
  for (double& coordinate : x) coordinate = rng.uniform();
  return x;
}

}  // namespace

RandomFourierFunction::RandomFourierFunction(int dim, double lengthscale, Rng& rng)
    : frequencies_(kFeatures, dim), phases_(kFeatures) {
  for (Eigen::Index i = 0; i < frequencies_.size(); ++i) frequencies_(i) = rng.normal() / lengthscale;
  for (double& phase : phases_) phase = 2.0 * std::numbers::pi * rng.uniform();
}

double RandomFourierFunction::operator()(const Vector& x) const {
  return std::sqrt(2.0 / kFeatures) * (frequencies_ * x + phases_).array().cos().sum();
}

Sample configurations(int n, int dim, Rng& rng) {
  const RandomFourierFunction f(dim, kLengthscale, rng);
  Matrix x(n, dim);
  Vector y(n);
  for (int i = 0; i < n; ++i) {
    const Vector point = uniform_point(dim, rng);
    x.row(i) = point.transpose();
    y(i) = f(point) + kNoise * rng.normal();
  }
  return {Rows::at_configurations(x), standardization(y).apply(y)};
}

Sample curves(int n, int dim, Rng& rng) {
  const RandomFourierFunction f(dim, kLengthscale, rng);
  Rows rows;
  Vector y(n);
  Eigen::Index next = 0;
  for (int c = 0; next < n; ++c) {
    const Vector x = uniform_point(dim, rng);
    const double level = f(x);
    const double speed = 2.0 + 8.0 * rng.uniform();
    std::vector<Epoch> epochs;
    for (int k = 1; k <= kRowsPerCurve && next < n; ++k, ++next) {
      const Epoch epoch = k * kLastEpoch / kRowsPerCurve - rng.below(5);
      epochs.push_back(epoch);
      y(next) = level - 2.0 / (1.0 + epoch / speed) + kNoise * rng.normal();
    }
    rows.append(Rows::of_curve(x, epochs, kLastEpoch, c));
  }
  return {rows, standardization(y).apply(y)};
}

}  // namespace bapi::bench
