#pragma once

#include "bapi/math/types.h"

namespace bapi {

// What the best of the next `runs` runs may be expected to reach: the value that one of them passes on average, if the
// most promising of the candidates are run and their outcomes N(mean, sd^2) are taken as independent. At least `best`,
// which it equals where no more than one run is left.
//
// `success` is the probability of each candidate to have an outcome at all.
//
// Improvement over this value instead of over `best` is what the rest of a budget is for: while it still covers many
// trials, small safe gains count for little; with one trial left, any gain counts.
double reachable_value(const Vector& means, const Vector& sds, const Vector& success, double best, double runs);

}  // namespace bapi
