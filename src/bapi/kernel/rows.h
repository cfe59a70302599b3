#pragma once

#include <vector>

#include "bapi/base/units.h"
#include "bapi/math/types.h"

namespace bapi {

// What a row observes of the latent function f(x, tau): its value or its derivative in tau.
enum class Op : unsigned char { value = 0, slope = 1 };

// How many of two functionals are slopes.
inline int slopes(Op op, Op op2) { return static_cast<int>(op) + static_cast<int>(op2); }

// Which learning curve a row belongs to. Rows of one curve share its own component of the covariance (see
// ProductKernel). Curves with data are numbered from 0 by whoever made the rows.
using CurveId = int;

// Numbers from here down are for configurations without data, each of which needs one that no other has.
inline constexpr CurveId kFirstNewCurve = -1000000;

// A configuration and how far it has been trained.
struct CurveAt {
  Vector x;           // in the unit cube
  CurveId group = 0;  // of its own if it has no data
  Epoch done = 0;     // epochs trained
};

// A list of linear functionals of f, one per row: data, virtual observations and queries alike.
//
// tau = epoch / max_epoch: 0 is the untrained model, 1 the last epoch. Rows made from whole epochs remember them, and
// covariances then come from tables over epochs; rows made from arbitrary tau are evaluated one by one.
struct Rows {
  Matrix x;                    // n x d, in the unit cube
  Vector tau;                  // n
  std::vector<Op> op;          // n
  std::vector<CurveId> group;  // n
  std::vector<Epoch> epoch;    // n; empty unless max_epoch > 0
  Epoch max_epoch = 0;         // > 0 if every row is at a whole epoch of this scale; 0 for arbitrary tau

  // Values at whole epochs; all in group 0 unless groups are given.
  static Rows at_epochs(Matrix x, std::vector<Epoch> epochs, Epoch max_epoch, std::vector<CurveId> groups = {});

  // Values at arbitrary tau.
  static Rows at_taus(Matrix x, Vector tau, std::vector<CurveId> groups = {});

  // Values at the last epoch, tau = 1, for models over configurations alone.
  static Rows at_configurations(Matrix x);

  // One configuration at several epochs, all with the same op.
  static Rows of_curve(
      const Vector& x, const std::vector<Epoch>& epochs, Epoch max_epoch, CurveId group = 0, Op op = Op::value);

  Eigen::Index size() const { return tau.size(); }
  Eigen::Index dim() const { return x.cols(); }
  bool all_values() const;

  // The rows of `more` behind these. Whole epochs are kept only if both sides use the same scale.
  void append(const Rows& more);

  // Keeps the first n rows.
  void truncate(Eigen::Index n);

  // Rows in the order of `indices`; an index may repeat.
  Rows select(const std::vector<Eigen::Index>& indices) const;

  // LogicError unless all parts have the same length and, with max_epoch > 0, tau agrees with the epochs.
  void check_shape() const;
};

}  // namespace bapi
