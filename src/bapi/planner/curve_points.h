#pragma once

#include <vector>

#include "bapi/base/units.h"
#include "bapi/gp/surrogate.h"

namespace bapi {

enum class LastEpoch { keep, free };

struct CurvePointOptions {
  // At most this many epochs of a curve become data.
  int count = 3;

  // keep: the last epoch is chosen first. It carries the value reached; without it the best value may be missing.
  LastEpoch last = LastEpoch::keep;

  void validate() const;
};

struct CurvePointChoice {
  std::vector<Epoch> epochs;  // in the order of choice
  Vector variance;            // latent variance of each when it was chosen
  Vector initial_variance;    // of all epochs of the curve before any choice
};

// Which epochs of a new curve of configuration x to keep: one after the other the one of largest latent variance, given
// the data and the choices before it. Values do not matter, so the unconstrained model serves. `epochs` ascending,
// max_epoch is the scale of tau. A pivoted Cholesky factorisation: n^2 T once, then T per choice before it.
CurvePointChoice choose_curve_points(const Surrogate& model,
                                     const Vector& x,
                                     CurveId group,
                                     const std::vector<Epoch>& epochs,
                                     Epoch max_epoch,
                                     const CurvePointOptions& options = {});

}  // namespace bapi
