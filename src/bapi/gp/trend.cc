#include "bapi/gp/trend.h"

#include <algorithm>
#include <cmath>

#include "bapi/gp/trend_prior.h"

namespace bapi {

Vector trend_weights(const Matrix& trends, const Vector& target, double sd) {
  constexpr int kMostRounds = 1000;
  constexpr double kSettled = 1e-13;
  const double precision = 1.0 / (sd * sd);
  Vector weights = Vector::Zero(trends.cols());
  Vector rest = target;
  for (int round = 0; round < kMostRounds; ++round) {
    double moved = 0.0;
    for (Eigen::Index k = 0; k < trends.cols(); ++k) {
      const double norm = trends.col(k).squaredNorm();
      const double wanted =
          std::max(0.0, (trends.col(k).dot(rest) + norm * weights[k] - kTrendRate) / (norm + precision));
      rest -= (wanted - weights[k]) * trends.col(k);
      moved = std::max(moved, std::abs(wanted - weights[k]));
      weights[k] = wanted;
    }
    if (moved <= kSettled || trends.cols() == 1) break;
  }
  return weights;
}

}  // namespace bapi
