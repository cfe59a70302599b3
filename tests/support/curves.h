#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/fit.h"

// Simulated learning curves for tests: power laws whose plateau and speed depend on the configuration, each observed up
// to some epoch at three of its epochs, as running maxima, standardised.
namespace bapi::curves {

struct Data {
  Rows rows;
  Vector y;
  Matrix x;                    // one row per configuration
  std::vector<Epoch> trained;  // last epoch of each
};

inline Data simulate(int configurations, int dimensions, Epoch max_epoch, Rng& rng) {
  Data data;
  data.x.resize(configurations, dimensions);
  std::vector<Epoch> epochs;
  std::vector<int> groups;
  std::vector<double> values;
  const double bend = 3.0 + 4.0 * rng.uniform();
  for (int i = 0; i < configurations; ++i) {
    for (int j = 0; j < dimensions; ++j) data.x(i, j) = rng.uniform();
    const double plateau = 0.9 - 0.5 * std::pow(data.x(i, 0) - 0.4, 2) + 0.1 * std::sin(bend * data.x.row(i).sum());
    const double power = 0.4 + 1.2 * data.x(i, dimensions - 1);
    const double start = 0.3 + 0.4 * rng.uniform();
    const Epoch last = 3 + rng.below(max_epoch - 2);
    double reached = -1.0;
    const std::set<Epoch> kept = {1 + rng.below(std::max(1, last / 3)), last / 2 + 1, last};
    for (Epoch t = 1; t <= last; ++t) {
      reached = std::max(reached, plateau - start * std::pow(t, -power) + 0.01 * rng.normal());
      if (!kept.contains(t)) continue;
      epochs.push_back(t);
      groups.push_back(i);
      values.push_back(reached);
    }
    data.trained.push_back(last);
  }
  const auto n = static_cast<Eigen::Index>(values.size());
  Matrix x(n, dimensions);
  data.y.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    x.row(i) = data.x.row(groups[static_cast<std::size_t>(i)]);
    data.y[i] = values[static_cast<std::size_t>(i)];
  }
  data.y.array() -= data.y.mean();
  data.y /= std::max(1e-12, std::sqrt(data.y.squaredNorm() / static_cast<double>(n - 1)));
  data.rows = Rows::at_epochs(x, epochs, max_epoch, groups);
  return data;
}

inline GpParameters structure(TimeKind kind, int dimensions) {
  SpaceKernel space{.kind = SpaceKind::matern52, .lengthscales = Vector::Constant(dimensions, 0.7)};
  TimeKernel time;
  time.kind = kind;
  return {.kernel = {.amplitude = 1.0, .space = std::move(space), .time = time, .own_amplitude = 0.0}, .noise = 0.01};
}

inline ExactGp fitted(const Data& data, TimeKind kind, Rng& rng) {
  return fit(data.rows, data.y, structure(kind, static_cast<int>(data.x.cols())), {}, rng).gp;
}

}  // namespace bapi::curves
