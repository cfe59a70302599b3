#pragma once

#include <algorithm>

#include "bapi/gp/monotone_gp.h"
#include "bapi/planner/conservative_stop.h"
#include "tests/support/curves.h"

namespace bapi::curves {

// Of `data_sets` fitted data sets, how many have a constrained mean that never decreases over the integer epochs, at
// a new configuration and at a partly trained one. Falls below `rounding` (standardised) do not count.
struct MonotoneShare {
  int data_sets = 0;
  int monotone = 0;
  double largest_fall = 0.0;
};

inline MonotoneShare monotone_share(TimeKind kind, int data_sets, Epoch max_epoch, std::uint64_t seed) {
  constexpr double kRounding = 1e-9;
  MonotoneShare share;
  for (int i = 0; i < data_sets; ++i) {
    Rng rng = Rng(seed).fork("data set", static_cast<std::uint64_t>(i));
    const Data data = simulate(9, 3, max_epoch, rng);
    const ExactGp gp = fitted(data, kind, rng);
    const SlopeConstraint slopes = slope_constraint(gp, 1);
    const Vector fresh = Vector::NullaryExpr(3, [&] { return rng.uniform(); });
    double fall = 0.0;
    for (const auto& [x, group] : {std::pair<Vector, int>(fresh, -1), {data.x.row(0).transpose(), 0}}) {
      const MonotoneGp posterior(gp, Constraint::on_slopes(slopes, x, group));
      const Vector means = curve_means(posterior, x, group, 1, max_epoch, max_epoch);
      for (Eigen::Index t = 1; t < means.size(); ++t) fall = std::max(fall, means[t - 1] - means[t]);
    }
    ++share.data_sets;
    if (fall <= kRounding) ++share.monotone;
    share.largest_fall = std::max(share.largest_fall, fall);
  }
  return share;
}

}  // namespace bapi::curves
