#pragma once

#include <vector>

#include "bapi/gp/exact_gp.h"
#include "bapi/kernel/rows.h"
#include "bapi/math/types.h"

namespace bapi {

enum class Monotonicity { off, on };

struct SlopeOptions {
  // off: no virtual rows at all; every constrained quantity is then the plain one.
  Monotonicity monotone = Monotonicity::on;

  // Variance of a virtual observation, relative to the prior variance of its own slope. One absolute value would swamp
  // the slope at the last epoch, whose variance is orders of magnitude below that at the first.
  double relative_noise = 1e-6;

  // Largest distance of virtual rows, in the distance over which the time kernel lets curves turn. Kernels whose curves
  // do not turn use the two ends.
  double spacing = 0.5;

  // At most this many rows per configuration, from 2 on.
  int max_rows = 24;

  void validate() const;
};

// Virtual observations df/dtau + noise >= 0 of one configuration, the same for every configuration: at which times,
// with which variance. Local to the configuration that is asked about: where no constraint reaches, the posterior mean
// is flat in time and every run would look finished after one epoch.
struct SlopeConstraint {
  Vector tau;
  std::vector<Epoch> epoch;  // the same as whole epochs; empty if max_epoch is 0
  Epoch max_epoch = 0;
  Vector noise;  // variances

  int size() const { return static_cast<int>(tau.size()); }

  // The slope rows of the configuration x.
  Rows rows(const Vector& x, CurveId group) const;

  // The slope rows of x followed by its value at an epoch, or at tau where epochs are not whole.
  Rows rows_and_value(const Vector& x, CurveId group, Epoch epoch_of_value) const;
  Rows rows_and_value_at_tau(const Vector& x, CurveId group, double tau_of_value) const;
};

// The constraint for a model whose data are at whole epochs; where curves can turn, from min_epoch on. The rows are in
// an order that suits drawing one after the other, not in the order of time.
SlopeConstraint slope_constraint(const ExactGp& gp, Epoch min_epoch, const SlopeOptions& options = {});

}  // namespace bapi
