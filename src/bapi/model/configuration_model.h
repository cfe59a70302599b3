#pragma once

#include <vector>

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/response.h"

namespace bapi {

// What full trainings left, one row of x for each.
struct Outcomes {
  Matrix x;       // n x d, in the unit cube
  Vector values;  // to be maximised
};

// What full trainings are believed to reach, as a function of the configuration alone: the model of policies that train
// everything to the end.
struct ConfigurationModel {
  ExactGp gp;           // rows: the outcomes, then what is pending; standardised values
  ResponseScale scale;  // of the values (to be maximised)
  double best = 0.0;    // best observed value, standardised

  // `pending` (m x d) stands at its expected values, so that the search looks elsewhere meanwhile. Deterministic given
  // the stream. Requires at least one outcome.
  static ConfigurationModel fit(const Outcomes& outcomes, const Matrix& pending, Rng& rng);
};

// What a full training costs, as a function of the configuration alone: a Gaussian process of its logarithm.
struct FullRunCost {
  ExactGp gp;            // of standardised log costs
  Standardization unit;  // of the log costs

  // `costs` are positive.
  static FullRunCost fit(const Matrix& x, const Vector& costs, Rng& rng);

  Cost median(const Vector& x) const;
};

}  // namespace bapi
