#include "data.h"

#include <cmath>
#include <numbers>

#include "bapi/base/rng.h"

namespace mlp {
namespace {

using bapi::Rng;

// Two directions of unit length at right angles: where the plane of the spirals lies.
Eigen::MatrixXd random_plane(int inputs, Rng& rng) {
  Eigen::MatrixXd plane(inputs, 2);
  for (int column = 0; column < 2; ++column) {
    for (int row = 0; row < inputs; ++row) plane(row, column) = rng.normal();
  }
  plane.col(0).normalize();
  plane.col(1) -= plane.col(0).dot(plane.col(1)) * plane.col(0);
  plane.col(1).normalize();
  return plane;
}

Eigen::Vector2d on_arm(int arm, const DataOptions& options, Rng& rng) {
  const double radius = std::sqrt(rng.uniform());
  const double start = 2.0 * std::numbers::pi * arm / options.arms;
  const double angle = start + 2.0 * std::numbers::pi * options.turns * radius;
  const Eigen::Vector2d point(radius * std::cos(angle), radius * std::sin(angle));
  return point + options.jitter * Eigen::Vector2d(rng.normal(), rng.normal());
}

Samples draw(int n, const Eigen::MatrixXd& plane, const DataOptions& options, Rng& rng) {
  constexpr double kSpread = 3.0;  // puts the spirals on the scale for which the weights are initialised
  Samples samples{.inputs = Eigen::MatrixXd(options.inputs, n),
                  .labels = std::vector<int>(static_cast<std::size_t>(n))};
  for (int i = 0; i < n; ++i) {
    const int arm = rng.below(options.arms);
    samples.inputs.col(i) = plane * (kSpread * on_arm(arm, options, rng));
    for (int k = 0; k < options.inputs; ++k) samples.inputs(k, i) += options.noise * rng.normal();
    const bool mislabelled = rng.uniform() < options.mislabelled;
    samples.labels[static_cast<std::size_t>(i)] = mislabelled ? rng.below(options.arms) : arm;
  }
  return samples;
}

}  // namespace

Data make_spirals(const DataOptions& options, std::uint64_t seed) {
  const Rng root(seed);
  Rng orientation = root.fork("plane");
  const Eigen::MatrixXd plane = random_plane(options.inputs, orientation);
  Rng training = root.fork("training");
  Rng validation = root.fork("validation");
  return {.training = draw(options.training, plane, options, training),
          .validation = draw(options.validation, plane, options, validation),
          .classes = options.arms};
}

}  // namespace mlp
