#pragma once

#include <vector>

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/math/types.h"

namespace bapi {

// The random input of a plan: column i s + k of `uniforms` drives slope k of point i, column i of `normals` the value
// of point i. Fixed for a whole plan, so that adding a point never changes the draws of those before it.
struct BaseSamples {
  Matrix uniforms;  // N x (points s), in (0, 1)
  Matrix normals;   // N x points

  // Scrambled Sobol points.
  static BaseSamples draw(int draws, int points, int slopes, Rng& rng);
};

// A point that could be appended to joint draws, with what each draw says about its value.
struct DrawExtension {
  Rows rows;            // slopes, then the value
  Matrix whitened;      // V = L^-1 K(Z, rows), n x (s + 1)
  Matrix above;         // covariance with the rows appended before, whitened, m x (s + 1)
  Matrix corner;        // lower factor of what is left, (s + 1) x (s + 1)
  Vector expectation;   // of the rows given the data alone
  Matrix zeta;          // N x s, whitened slopes
  Matrix bound;         // N x s, where each of them is cut off
  Matrix bound_hazard;  // N x s, hazard there
  Vector log_weights;   // N, with those of the points before
  Vector mean;          // N, of the value given the draw
  double sd = 0.0;      // of the value given the draw
};

// Points with their covariances with the data solved for: what extensions of them have in common, whatever is appended
// in between.
struct PreparedPoints {
  std::vector<Rows> rows;  // slopes and value of each
  Rows all;                // the same in one list
  Matrix whitened;         // L^-1 K(Z, all)
};

// Derivatives of an extension in the coordinates of its x.
struct DrawGradient {
  Matrix log_weights;  // N x d
  Matrix mean;         // N x d
  Vector sd;           // d
};

// q values with their covariances with the data solved for.
struct PreparedValues {
  Rows rows;           // one value each
  Matrix whitened;     // L^-1 K(Z, rows), n x q
  Vector expectation;  // given the data alone
  Vector variance;
};

// What each draw of the points appended before says about q further values if no slopes of theirs are constrained. Far
// cheaper than a DrawExtension and close to it: the constraint moves neighbouring values alike.
struct ValueExtension {
  Matrix above;        // covariance with the rows appended before, whitened, m x q
  Matrix mean;         // N x q, of the value given the draw
  Vector sd;           // q
  Vector log_weights;  // N, of the points before
};

// Derivatives of one function per point in what its extension holds.
struct ValueSlopes {
  Matrix mean;         // N x q
  Vector sd;           // q
  Vector expectation;  // q
};

// Weighted draws of the values of several points under the slope constraint at each of them. Rows are appended to the
// joint Cholesky factor in the order slopes(x1), f(x1), slopes(x2), f(x2), ...: every slope is a truncated draw and
// multiplies the weight by the probability of its interval, every value is a plain draw.
//
// Averages over the draws must use the weights. Refers to the model, which must outlive it and stay as it is.
class JointDraws {
 public:
  // value_jitter, relative to the amplitude, is added to the variance of every value: a point may coincide with data.
  JointDraws(const ExactGp& gp, SlopeConstraint slopes, BaseSamples base, double value_jitter = 1e-8);

  const ExactGp& gp() const { return gp_; }
  const SlopeConstraint& slopes() const { return slopes_; }
  const BaseSamples& base() const { return base_; }
  int draws() const { return static_cast<int>(base_.normals.rows()); }
  int points() const { return points_; }
  int capacity() const { return static_cast<int>(base_.normals.cols()); }

  Matrix values() const { return values_.leftCols(points_); }  // N x points
  const Vector& log_weights() const { return log_weights_; }   // N

  // What each point would add next; every element of `rows` holds the slopes and the value of one point. One blocked
  // solve for all. Uses the first `draws` draws only, 0 for all.
  std::vector<DrawExtension> extend(const std::vector<Rows>& rows, int draws = 0) const;

  // The same in two steps, for points that are looked at again after others have been appended.
  PreparedPoints prepare(const std::vector<Rows>& rows) const;
  std::vector<DrawExtension> extend(const PreparedPoints& points, int draws = 0) const;

  // Gradients of extensions, in the same order, on the draws that they use.
  std::vector<DrawGradient> gradients(const std::vector<DrawExtension>& extensions) const;

  // Values of points given the points appended so far, without slopes of their own; one value row each.
  PreparedValues prepare_values(Rows rows) const;
  ValueExtension extend_values(const PreparedValues& values, int draws = 0) const;

  // Column i is the gradient of a function of point i's moments in its x, d x q.
  Matrix contracted_gradients(const PreparedValues& values, const ValueExtension& at, const ValueSlopes& slopes) const;

  // Appends the point. The extension must use all draws.
  void append(const DrawExtension& extension);

  // Repeats draws in proportion to their weights and makes the weights equal: averages stay the same up to rounding to
  // whole draws, and points appended from now on are again served by all draws. Systematic, without randomness. Returns
  // which draw each one is a copy of.
  std::vector<Eigen::Index> resample();

 private:
  Matrix above_of(const Rows& rows, const Matrix& whitened) const;
  DrawExtension extend_one(Rows rows, Matrix whitened, const Matrix& pending_cross, int draws) const;
  DrawGradient gradient_of(const DrawExtension& extension, const Matrix& solved) const;

  const ExactGp& gp_;
  SlopeConstraint slopes_;
  BaseSamples base_;
  Matrix plain_normals_;  // quantiles of the uniforms: the draws where the constraint does not act
  Matrix corner_prior_;   // covariance of the rows of one point, noise and jitter included: the same at every x
  Vector alpha_;
  int points_ = 0;
  Rows rows_;        // appended rows
  Matrix whitened_;  // V of the appended rows, n x m
  Matrix solved_;    // L^-T V, n x m
  Matrix factor_;    // m x m
  Matrix zeta_;      // N x m
  Matrix values_;    // N x capacity
  Vector log_weights_;
};

}  // namespace bapi
