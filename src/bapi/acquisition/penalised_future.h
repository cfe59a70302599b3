#pragma once

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/math/maximize.h"

namespace bapi {

// How little an evaluation of x_j leaves to find at a distance from it, if the function changes by at most `lipschitz`
// per unit of distance: log Phi((lipschitz * distance - best + mean_j) / sd_j), the log probability that the maximum
// may lie there.
double log_local_penalty(double lipschitz, double distance, double best, double mean, double sd);

// The steepest slope of the posterior mean in the unit cube: the largest norm of its gradient. Models over
// configurations with a Matern 5/2 kernel.
double steepest_slope(const ExactGp& gp, Rng& rng);

// The norms of the posterior mean's gradients at points (d x m), and the gradients of the norms, d x m.
void slope_norms(const ExactGp& gp, const Matrix& points, Vector& norms, Matrix& gradients);

// A guess of what will be evaluated after a first point: one by one the points with the largest expected improvement,
// each penalised around all points before it.
class PenalisedFuture {
 public:
  // The model is kept by reference. Draws the points among which the guesses are searched.
  PenalisedFuture(const ExactGp& gp, double best, Rng& rng);

  double lipschitz() const { return lipschitz_; }

  // Guesses after `first`, d x count: among the drawn points only, or improved by an ascent from the best of them.
  Matrix rough(const Vector& first, int count) const;
  Matrix refined(const Vector& first, int count) const;

 private:
  struct Centre {
    Vector x;
    double mean;
    double sd;
  };
  Centre centre(const Vector& x) const;
  Vector penalties(const Centre& around) const;  // of the drawn points
  MaximizeSummary ascended(const Vector& start, const std::vector<Centre>& before) const;

  const ExactGp& gp_;
  double best_;
  double lipschitz_;
  Matrix points_;  // d x m
  Moments moments_;
  Vector log_improvement_;
};

}  // namespace bapi
