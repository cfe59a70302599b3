#include "bapi/acquisition/improvement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/math/normal.h"

namespace bapi {

double expected_improvement(double mean, double sd, double best) {
  if (!(sd > 0.0)) return std::max(0.0, mean - best);
  const double z = (mean - best) / sd;
  // Left of this the two terms cancel; the log form keeps the digits.
  if (z < -5.0) return std::exp(log_expected_improvement(mean, sd, best));
  return sd * (normal_pdf(z) + z * normal_cdf(z));
}

double log_expected_improvement(double mean, double sd, double best) {
  if (!(sd > 0.0)) return mean > best ? std::log(mean - best) : -std::numeric_limits<double>::infinity();
  return std::log(sd) + log_normal_improvement((mean - best) / sd);
}

ImprovementSlopes log_improvement_slopes(double mean, double sd, double best) {
  check(sd > 0.0, "improvement: slopes need a positive standard deviation");
  const double z = (mean - best) / sd;
  const double log_h = log_normal_improvement(z);
  return {.log_value = std::log(sd) + log_h,
          .mean = std::exp(log_normal_cdf(z) - log_h) / sd,
          .sd = std::exp(log_normal_pdf(z) - log_h) / sd};
}

ImprovementGradients log_expected_improvement(const Surrogate& model, const Rows& rows, double best) {
  const MomentGradients at = model.predict_with_gradients(rows);
  ImprovementGradients result{Vector(rows.size()), Matrix::Zero(rows.dim(), rows.size())};
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    const double sd = std::sqrt(at.moments.variance[i]);
    result.log_values[i] = log_expected_improvement(at.moments.mean[i], sd, best);
    if (!(sd > 0.0)) continue;
    const ImprovementSlopes slopes = log_improvement_slopes(at.moments.mean[i], sd, best);
    result.gradients.col(i) = slopes.mean * at.mean.col(i) + slopes.sd / (2.0 * sd) * at.variance.col(i);
  }
  return result;
}

double log_constrained_improvement(const MonotoneGp& posterior,
                                   const Rows& row,
                                   double best,
                                   const MomentOptions& options) {
  const ExactGp& gp = posterior.gp();
  check(row.size() == 1, "constrained improvement: one row at a time");
  const Constraint& constraint = posterior.constraint();
  const Eigen::Index s = constraint.rows.size();
  const JointFactor joint = posterior.joint_factor(row);
  const double variance = joint.remainder(0, 0);
  const double mean = gp.prior_mean(row)[0] + joint.whitened_query.col(0).dot(gp.residual());
  if (s == 0) return log_expected_improvement(mean, std::sqrt(std::max(0.0, variance)), best);

  // [C; f - best] and f - best > 0 as one more truncated variable.
  const Matrix& factor = posterior.unconstrained_factor();
  TruncatedNormal all{Vector(s + 1), Matrix(s + 1, s + 1), Vector(s + 1), {}};
  all.mean << posterior.unconstrained_mean(), mean - best;
  all.lower << constraint.lower, 0.0;
  const Vector cross = factor * joint.coupling.col(0);
  all.covariance.topLeftCorner(s, s) = factor * factor.transpose();
  all.covariance.col(s).head(s) = cross;
  all.covariance.row(s).head(s) = cross.transpose();
  const double floor = 1e-12 * gp.covariance().variances(row)[0];
  all.covariance(s, s) = std::max(variance, floor) + joint.coupling.col(0).squaredNorm();

  const TruncatedMoments improved = truncated_moments(all, options);
  const double gain = std::max(improved.mean[s], std::numeric_limits<double>::min());
  return improved.log_probability - posterior.log_probability() + std::log(gain);
}

}  // namespace bapi
