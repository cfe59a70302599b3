#include "bapi/planner/curve_points.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {

void CurvePointOptions::validate() const {
  require(count >= 1, fmt::format("curve_points.count = {}, must be at least 1", count));
}

CurvePointChoice choose_curve_points(const Surrogate& model,
                                     const Vector& x,
                                     CurveId group,
                                     const std::vector<Epoch>& epochs,
                                     Epoch max_epoch,
                                     const CurvePointOptions& options) {
  options.validate();
  check(std::is_sorted(epochs.begin(), epochs.end()), "curve points: epochs out of order");
  const Matrix covariance = model.predict_joint(Rows::of_curve(x, epochs, max_epoch, group)).covariance;
  const auto total = static_cast<Eigen::Index>(epochs.size());
  const Eigen::Index count = std::min<Eigen::Index>(options.count, total);

  CurvePointChoice choice;
  choice.initial_variance = covariance.diagonal().cwiseMax(0.0);
  choice.variance.resize(count);
  Vector variance = choice.initial_variance;
  Matrix factor(total, count);  // column k: covariance with choice k given those before, over its noisy deviation
  std::vector<bool> taken(epochs.size(), false);
  for (Eigen::Index k = 0; k < count; ++k) {
    Eigen::Index best = total - 1;
    if (k > 0 || options.last == LastEpoch::free) {
      best = -1;
      for (Eigen::Index i = 0; i < total; ++i) {
        if (!taken[i] && (best < 0 || variance[i] > variance[best])) best = i;
      }
    }
    taken[best] = true;
    choice.epochs.push_back(epochs[best]);
    choice.variance[k] = variance[best];
    const Vector column = covariance.col(best) - factor.leftCols(k) * factor.row(best).head(k).transpose();
    factor.col(k) = column / std::sqrt(variance[best] + model.noise());
    variance = (variance - factor.col(k).cwiseAbs2()).cwiseMax(0.0);
  }
  return choice;
}

}  // namespace bapi
