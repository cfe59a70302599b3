#pragma once

#include "bapi/base/units.h"
#include "bapi/math/error_law.h"

namespace bapi {

// How much wider than the model says the band of a forecast has to be for what comes true to lie within it as often as
// it should: a factor of the standard deviation of what will be measured. A model that was fitted to a study once is
// too sure of itself, the more so the further it looks ahead.
//
// Learned from the decisions of `bapi` on recorded curves: what it chooses to train it has chosen for looking good, so
// that factors from states at random, which fit_spread.py estimates, are too small. docs/benchmarks.md has the record.
// The factors belong to the response and the kernel that they were learned with.
double spread_factor(Epoch now, Epoch then);  // now = 0: of a configuration that was not trained yet

// How the errors of forecasts are distributed in units of the deviation with that factor: most are small, and some are
// much larger than those of a normal. `warped`: whether values count by their distance from the best. Learned from
// decisions on recorded curves by fit_tails.py; docs/benchmarks.md has the record.
ErrorLaw value_errors(Epoch now, bool warped);

}  // namespace bapi
