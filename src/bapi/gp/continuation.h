#pragma once

#include "bapi/gp/exact_gp.h"

namespace bapi {

// Moments of f at the rows `then`, if the observations `reached` at `now`, which are data of the model, had this
// variance instead of the model's noise: 0 if they are exact; no less than the noise changes nothing. Rows of the same
// place are values at the same x in the same group. Each pair is taken on its own: what one curve has reached says
// nothing more about the others.
Moments continuation(const ExactGp& gp, const Rows& now, const Vector& reached, double variance, const Rows& then);

}  // namespace bapi
