#pragma once

#include "bapi/gp/exact_gp.h"

namespace bapi {

// Moments of f at the rows `then`, given the data and, row by row, that f at `now` is exactly `reached`. Rows of the
// same place are values at the same x in the same group. Each pair is taken on its own: what one curve has reached says
// nothing more about the others.
Moments continuation(const ExactGp& gp, const Rows& now, const Vector& reached, const Rows& then);

}  // namespace bapi
