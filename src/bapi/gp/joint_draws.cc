#include "bapi/gp/joint_draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/math/normal.h"
#include "bapi/math/quasi_random.h"
#include "bapi/math/truncated_normal.h"

namespace bapi {

namespace {

// Below this bound the probability of being above it is 1 to the last bit: the draw is the unconstrained one.
constexpr double kInactiveBound = -8.3;

// One list, without the growing that repeated appending would mean.
Rows concatenated(const std::vector<Rows>& parts) {
  Rows all = parts.front();
  Eigen::Index total = 0;
  for (const Rows& part : parts) total += part.size();
  all.x.resize(total, parts.front().dim());
  all.tau.resize(total);
  all.op.clear();
  all.group.clear();
  all.epoch.clear();
  Eigen::Index next = 0;
  for (const Rows& part : parts) {
    check(part.max_epoch == all.max_epoch, "joint draws: points on different scales of epochs");
    all.x.middleRows(next, part.size()) = part.x;
    all.tau.segment(next, part.size()) = part.tau;
    all.op.insert(all.op.end(), part.op.begin(), part.op.end());
    all.group.insert(all.group.end(), part.group.begin(), part.group.end());
    all.epoch.insert(all.epoch.end(), part.epoch.begin(), part.epoch.end());
    next += part.size();
  }
  return all;
}

// T low(T^-1 dQ T^-T): the derivative of a Cholesky factor.
Matrix factor_derivative(const Matrix& factor, const Matrix& derivative) {
  Matrix inner = factor.triangularView<Eigen::Lower>().solve(derivative);
  inner = factor.triangularView<Eigen::Lower>().solve(inner.transpose()).transpose();
  inner.triangularView<Eigen::StrictlyUpper>().setZero();
  inner.diagonal() *= 0.5;
  return factor.triangularView<Eigen::Lower>() * inner;
}

}  // namespace

// "Posterior of f given Y and C" and "q-EI, sequential greedy" of docs/method.md. Let r be the rows of the points
// appended so far and of the next one: slopes and value of each. Given the data, r ~ N(m, S) with m = prior + V^T b and
// S = K(r, r) - V^T V, V = L^-1 K(Z, r). With S = T T^T, r = m + T zeta for independent normals zeta, so rows can be
// drawn one after the other: row k is m_k + sum_{i<k} T_ki zeta_i + T_kk zeta_k. A slope must not be negative, which is
// zeta_k >= bound_k = -(m_k + sum_{i<k} T_ki zeta_i) / T_kk: zeta_k is drawn from that tail, and the weight of the draw
// is multiplied by its probability Q(bound_k) (separation of variables). A value is not bounded. `above` and `corner`
// are the new columns of T^T: `above` = T_old^-1 (K(r_old, new) - V_old^T V_new), `corner` the factor of what they
// leave.
BaseSamples BaseSamples::draw(int draws, int points, int slopes, Rng& rng) {
  const Matrix all = scrambled_sobol_points(draws, points * (slopes + 1), rng);
  BaseSamples base{Matrix(draws, points * slopes), Matrix(draws, points)};
  for (int i = 0; i < points; ++i) {
    // The value of a point comes first: early dimensions are spread best, and values matter more than slopes.
    base.normals.col(i) = all.col(i * (slopes + 1)).unaryExpr([](double u) { return normal_quantile(u); });
    base.uniforms.middleCols(i * slopes, slopes) = all.middleCols(i * (slopes + 1) + 1, slopes);
  }
  return base;
}

JointDraws::JointDraws(const ExactGp& gp, SlopeConstraint slopes, BaseSamples base, double value_jitter)
    : gp_(gp), slopes_(std::move(slopes)), base_(std::move(base)) {
  const int s = slopes_.size();
  check(base_.uniforms.rows() == base_.normals.rows() && base_.uniforms.cols() == s * base_.normals.cols(),
        "joint draws: uniforms and normals do not fit");
  plain_normals_ = base_.uniforms.unaryExpr([](double u) { return normal_quantile(u); });
  alpha_ = gp.alpha();
  rows_.x.resize(0, gp.rows().dim());
  rows_.max_epoch = gp.rows().max_epoch;
  whitened_.resize(gp.size(), 0);
  solved_.resize(gp.size(), 0);
  factor_.resize(0, 0);
  zeta_.resize(draws(), 0);
  values_.resize(draws(), capacity());
  log_weights_ = Vector::Zero(draws());

  // Everything but the value's time is fixed; the value's own variance is set per extension.
  corner_prior_ = Matrix::Zero(s + 1, s + 1);
  corner_prior_.diagonal().head(s) = slopes_.noise;
  corner_prior_(s, s) = value_jitter * gp.parameters().kernel.amplitude;
}

PreparedPoints JointDraws::prepare(const std::vector<Rows>& rows) const {
  PreparedPoints points;
  if (rows.empty()) return points;
  points.rows = rows;
  points.all = concatenated(rows);
  points.whitened = gp_.whitened_cross(points.all);
  return points;
}

// Covariance of `rows` with the rows appended so far, whitened.
Matrix JointDraws::above_of(const Rows& rows, const Matrix& whitened) const {
  if (factor_.rows() == 0) return Matrix(0, rows.size());
  Matrix above = gp_.covariance().cross(rows_, rows);
  above.noalias() -= whitened_.transpose() * whitened;
  factor_.triangularView<Eigen::Lower>().solveInPlace(above);
  return above;
}

PreparedValues JointDraws::prepare_values(Rows rows) const {
  PreparedValues values{.rows = std::move(rows), .whitened = {}, .expectation = {}, .variance = {}};
  values.whitened = gp_.whitened_cross(values.rows);
  values.expectation = gp_.prior_mean(values.rows) + values.whitened.transpose() * gp_.residual();
  values.variance = gp_.covariance().variances(values.rows) - values.whitened.colwise().squaredNorm().transpose();
  values.variance.array() += corner_prior_(slopes_.size(), slopes_.size());
  return values;
}

ValueExtension JointDraws::extend_values(const PreparedValues& values, int draws) const {
  const int used = draws == 0 ? this->draws() : std::min(draws, this->draws());
  const double jitter = corner_prior_(slopes_.size(), slopes_.size());
  ValueExtension next;
  next.above = above_of(values.rows, values.whitened);
  next.mean = values.expectation.transpose().replicate(used, 1);
  if (next.above.rows() > 0) next.mean.noalias() += zeta_.topRows(used) * next.above;
  const Vector variance = values.variance - next.above.colwise().squaredNorm().transpose();
  next.sd = variance.cwiseMax(jitter).cwiseSqrt();
  next.log_weights = log_weights_.head(used);
  return next;
}

// With mean_j = prior + V^T b + above^T zeta_j and sd^2 = k - V^T V - above^T above, every derivative leads through dV
// and d above to dK(Z, row) and dK(appended rows, row), of which each point needs one contraction.
Matrix JointDraws::contracted_gradients(const PreparedValues& values,
                                        const ValueExtension& at,
                                        const ValueSlopes& slopes) const {
  const Vector per_sd = slopes.sd.cwiseQuotient(at.sd);
  const Vector total = slopes.expectation + slopes.mean.colwise().sum().transpose();
  Matrix over_data = gp_.residual() * total.transpose() - values.whitened * per_sd.asDiagonal();
  Matrix gradients = Matrix::Zero(values.rows.dim(), values.rows.size());
  if (factor_.rows() > 0) {
    Matrix over_rows = zeta_.topRows(at.mean.rows()).transpose() * slopes.mean - at.above * per_sd.asDiagonal();
    factor_.triangularView<Eigen::Lower>().transpose().solveInPlace(over_rows);
    over_data.noalias() -= whitened_ * over_rows;
    gradients = gp_.covariance().contracted_x_gradient(rows_, values.rows, over_rows);
  }
  over_data = gp_.factor().solve_lower_transposed(std::move(over_data));
  if (gp_.trend_weights().size() > 0) gradients += gp_.prior_mean_x_gradients(values.rows) * total.asDiagonal();
  return gradients + gp_.covariance().contracted_x_gradient(gp_.rows(), values.rows, over_data);
}

std::vector<DrawExtension> JointDraws::extend(const std::vector<Rows>& rows, int draws) const {
  return extend(prepare(rows), draws);
}

std::vector<DrawExtension> JointDraws::extend(const PreparedPoints& points, int draws) const {
  check(points_ < capacity(), "joint draws: no base samples remain");
  if (points.rows.empty()) return {};
  const Matrix above = above_of(points.all, points.whitened);
  std::vector<DrawExtension> extensions;
  extensions.reserve(points.rows.size());
  const int per_point = slopes_.size() + 1;
  const int used = draws == 0 ? this->draws() : std::min(draws, this->draws());
  for (std::size_t i = 0; i < points.rows.size(); ++i) {
    check(points.rows[i].size() == per_point, "joint draws: a point has the wrong number of rows");
    const auto first = static_cast<Eigen::Index>(i) * per_point;
    extensions.push_back(extend_one(
        points.rows[i], points.whitened.middleCols(first, per_point), above.middleCols(first, per_point), used));
  }
  return extensions;
}

DrawExtension JointDraws::extend_one(Rows rows, Matrix whitened, const Matrix& above, int draws) const {
  const int s = slopes_.size();
  DrawExtension next;
  next.expectation = gp_.prior_mean(rows) + whitened.transpose() * gp_.residual();
  const Matrix prior = gp_.covariance().gram(rows);
  Matrix covariance = prior + corner_prior_;
  covariance.noalias() -= whitened.transpose() * whitened;
  covariance.noalias() -= above.transpose() * above;
  next.corner = factor_of_small(covariance, prior.diagonal());
  next.rows = std::move(rows);
  next.whitened = std::move(whitened);
  next.above = above;

  Matrix centre = next.expectation.transpose().replicate(draws, 1);
  if (above.rows() > 0) centre.noalias() += zeta_.topRows(draws) * above;
  next.zeta.resize(draws, s);
  next.bound.resize(draws, s);
  next.bound_hazard.resize(draws, s);
  next.log_weights = log_weights_.head(draws);
  const Eigen::Index column = static_cast<Eigen::Index>(points_) * s;
  for (int k = 0; k < s; ++k) {
    if (k > 0) centre.col(k).noalias() += next.zeta.leftCols(k) * next.corner.row(k).head(k).transpose();
    const double scale = next.corner(k, k);
    for (int j = 0; j < draws; ++j) {
      const double bound = -centre(j, k) / scale;
      next.bound(j, k) = bound;
      if (bound < kInactiveBound) {
        next.zeta(j, k) = plain_normals_(j, column + k);
        next.bound_hazard(j, k) = 0.0;
        continue;
      }
      const NormalTailDraw draw = normal_tail_draw(bound, base_.uniforms(j, column + k));
      next.bound_hazard(j, k) = draw.hazard;
      next.log_weights[j] += draw.log_tail;
      next.zeta(j, k) = draw.z;
    }
  }
  if (s > 0) centre.col(s).noalias() += next.zeta * next.corner.row(s).head(s).transpose();
  next.mean = centre.col(s);
  next.sd = next.corner(s, s);
  check(next.log_weights.size() == 0 || !next.log_weights.hasNaN(), "joint draws: NaN among the weights");
  return next;
}

std::vector<DrawGradient> JointDraws::gradients(const std::vector<DrawExtension>& extensions) const {
  std::vector<DrawGradient> result;
  if (extensions.empty()) return result;
  const int per_point = slopes_.size() + 1;
  Matrix solved(gp_.size(), static_cast<Eigen::Index>(extensions.size()) * per_point);
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    solved.middleCols(static_cast<Eigen::Index>(i) * per_point, per_point) = extensions[i].whitened;
  }
  solved = gp_.factor().solve_lower_transposed(std::move(solved));
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    result.push_back(
        gradient_of(extensions[i], solved.middleCols(static_cast<Eigen::Index>(i) * per_point, per_point)));
  }
  return result;
}

// In each coordinate of x: d corner from d covariance = -dV^T V - d above^T above + its transpose, by the derivative of
// a Cholesky factor; then row by row d centre, d bound = -(d centre + d corner_kk bound) / corner_kk, and with the
// uniform u of the draw fixed, Q(zeta) = (1 - u) Q(bound), so that d zeta = (1 - u) phi(bound) / phi(zeta) d bound. The
// weight changes by d log Q(bound) = -hazard(bound) d bound.
DrawGradient JointDraws::gradient_of(const DrawExtension& at, const Matrix& solved) const {
  const int s = slopes_.size();
  const Eigen::Index n = at.mean.size();
  const Eigen::Index m = factor_.rows();
  const Eigen::Index d = at.rows.dim();
  DrawGradient gradient{Matrix::Zero(n, d), Matrix(n, d), Vector(d)};

  // dK(Z, rows)^T contracted with everything it meets: a, L^-T V of these rows, L^-T V of the rows before.
  Matrix weights(gp_.size(), 1 + (s + 1) + m);
  weights << alpha_, solved, solved_;
  const std::vector<Matrix> over_data = gp_.covariance().contracted_x_gradients(gp_.rows(), at.rows, weights);
  std::vector<Matrix> over_rows;
  if (m > 0) over_rows = gp_.covariance().contracted_x_gradients(rows_, at.rows, Matrix::Identity(m, m));

  // d zeta / d bound = hazard(bound) / hazard(zeta), and Q(zeta) = (1 - u) Q(bound).
  const auto uniforms = base_.uniforms.middleCols(static_cast<Eigen::Index>(points_) * s, s).topRows(n);
  const Matrix ratio =
      (at.bound_hazard.array() == 0.0)
          .select(0.0, (1.0 - uniforms.array()) * (0.5 * (at.zeta.array().square() - at.bound.array().square())).exp());

  const Matrix prior = gp_.trend_weights().size() > 0 ? gp_.prior_mean_x_gradients(at.rows) : Matrix();
  Matrix dzeta(n, s);
  for (Eigen::Index j = 0; j < d; ++j) {
    const Matrix& data = over_data[static_cast<std::size_t>(j)];
    Matrix dcovariance = -data.middleCols(1, s + 1);
    Matrix dabove(m, s + 1);
    if (m > 0) {
      dabove = (over_rows[static_cast<std::size_t>(j)] - data.rightCols(m)).transpose();
      factor_.triangularView<Eigen::Lower>().solveInPlace(dabove);
      dcovariance.noalias() -= dabove.transpose() * at.above;
    }
    const Matrix symmetric = dcovariance + dcovariance.transpose();
    const Matrix dcorner = factor_derivative(at.corner, symmetric);

    Matrix dcentre = data.col(0).transpose().replicate(n, 1);
    if (prior.size() > 0) dcentre.rowwise() += prior.row(j);
    if (m > 0) dcentre.noalias() += zeta_.topRows(n) * dabove;
    for (int k = 0; k <= s; ++k) {
      for (int i = 0; i < std::min(k, s); ++i) {
        dcentre.col(k) += dcorner(k, i) * at.zeta.col(i) + at.corner(k, i) * dzeta.col(i);
      }
      if (k == s) break;
      const Vector dbound = -(dcentre.col(k) + dcorner(k, k) * at.bound.col(k)) / at.corner(k, k);
      dzeta.col(k) = ratio.col(k).cwiseProduct(dbound);
      gradient.log_weights.col(j) -= at.bound_hazard.col(k).cwiseProduct(dbound);
    }
    gradient.mean.col(j) = dcentre.col(s);
    gradient.sd[j] = dcorner(s, s);
  }
  return gradient;
}

void JointDraws::append(const DrawExtension& next) {
  const int s = slopes_.size();
  const Eigen::Index m = factor_.rows();
  const Eigen::Index n = draws();
  check(next.mean.size() == n && next.above.rows() == m && points_ < capacity(),
        "joint draws: the extension belongs to another state");
  Matrix factor = Matrix::Zero(m + s + 1, m + s + 1);
  factor.topLeftCorner(m, m) = factor_;
  factor.bottomLeftCorner(s + 1, m) = next.above.transpose();
  factor.bottomRightCorner(s + 1, s + 1) = next.corner.triangularView<Eigen::Lower>();
  factor_ = std::move(factor);
  whitened_.conservativeResize(Eigen::NoChange, m + s + 1);
  whitened_.rightCols(s + 1) = next.whitened;
  solved_.conservativeResize(Eigen::NoChange, m + s + 1);
  solved_.rightCols(s + 1) = gp_.factor().solve_lower_transposed(next.whitened);
  zeta_.conservativeResize(Eigen::NoChange, m + s + 1);
  zeta_.middleCols(m, s) = next.zeta;
  zeta_.col(m + s) = base_.normals.col(points_);
  values_.col(points_) = next.mean + next.sd * base_.normals.col(points_);
  log_weights_ = next.log_weights;
  if (points_ == 0) {
    rows_ = next.rows;
  } else {
    rows_.append(next.rows);
  }
  ++points_;
}

std::vector<Eigen::Index> JointDraws::resample() {
  const Vector weights = normalised_weights(log_weights_);
  const Eigen::Index n = draws();
  std::vector<Eigen::Index> source(static_cast<std::size_t>(n));
  Eigen::Index from = 0;
  double passed = weights[0];
  for (Eigen::Index i = 0; i < n; ++i) {
    const double level = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    while (passed < level && from + 1 < n) passed += weights[++from];
    source[static_cast<std::size_t>(i)] = from;
  }
  const Matrix zeta = zeta_;
  const Matrix values = values_.leftCols(points_);
  for (Eigen::Index i = 0; i < n; ++i) {
    zeta_.row(i) = zeta.row(source[static_cast<std::size_t>(i)]);
    values_.row(i).head(points_) = values.row(source[static_cast<std::size_t>(i)]);
  }
  log_weights_.setZero();
  return source;
}

}  // namespace bapi
