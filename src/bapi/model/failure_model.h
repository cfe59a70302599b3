#pragma once

#include <memory>
#include <vector>

#include "bapi/base/units.h"
#include "bapi/math/maximize.h"
#include "bapi/math/types.h"

namespace bapi {

// What became of one training so far.
struct TrainingOutcome {
  Vector x;  // in the unit cube
  bool failed = false;
  Epoch epoch = 0;  // failed: the epoch in which it broke down; otherwise the last epoch that it came through
};

// How likely a configuration is to be trained without failing. A value says how good a configuration is and a failure
// does not, so the two are kept apart: models of values never see failures, scores are multiplied by this.
//
// Three explanations of the failures compete, and every configuration is judged by their posterior probabilities:
//
//   luck            every training fails with probability r, wherever it is
//   one side        every training fails on one side of a plane: beyond a threshold of one coordinate (a learning rate
//                   that is too high, an option that does not work) or of a mixture of several (a model that does not
//                   fit into memory). Thresholds are uniform over the cube, both sides alike
//   neighbourhood   every training near x fails
//
// Compared with luck, a training inside such a region makes the region likelier by 1 / r if it failed. One that came
// through e epochs makes it less likely, by s(e) / (1 - r F(e)): F(e) is the share of the failures seen that came by
// epoch e, and s(e) = max(s, 1 - F(e)), so that surviving says nothing where failures come later. A training belongs to
// a side or it does not; it belongs to the neighbourhood of x to the degree k = exp(-|x - x_i|^2 / (2 d l^2)), and its
// factor is taken to that power.
//
//   P(success | x) = (luck + sides without x) / (luck + all sides + neighbourhood(x)),
//
// up to the factor 1 - r, which is the same everywhere. A single failure with nothing around it leaves P above one half
// there, one amid successes nearly 1. Evidence multiplies: several failures without a success between them leave P of
// the order r^n.
//
// What is likelier to fail than to succeed comes after everything else, however much it promises: improvements differ
// by any number of orders of magnitude, above all where nothing was learned because everything failed. Once one side is
// likelier than luck, so does what succeeds with less than three chances in four: where the side begins is found with
// fewer failures.
class FailureModel {
 public:
  FailureModel() = default;
  explicit FailureModel(const std::vector<TrainingOutcome>& outcomes);

  // Whether anything has failed. If not, every probability is 1.
  bool any() const { return fit_ != nullptr; }

  // P at x, d coordinates.
  double success(const Vector& x) const;

  // Logarithms of the factors of scores at points, d x m: of P, and far below all others where P is too low. With
  // gradients, d x m.
  Vector log_factors(const Matrix& points) const;
  void log_factors(const Matrix& points, Vector& logs, Matrix& gradients) const;

  // The same as a factor of a search, see times(); empty if nothing has failed.
  BatchObjective factor() const;

 private:
  class Sides;
  struct Fit;
  std::shared_ptr<const Fit> fit_;
};

}  // namespace bapi
