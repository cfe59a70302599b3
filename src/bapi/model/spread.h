#pragma once

#include "bapi/base/units.h"

namespace bapi {

// How much wider than the model says the band of a forecast has to be for what comes true to lie within it as often as
// it should: a factor of the standard deviation of what will be measured. A model that was fitted to a study once is
// too sure of itself, the more so the further it looks ahead.
//
// Learned from the decisions of `bapi` on recorded curves: what it chooses to train it has chosen for looking good, so
// that factors from states at random, which fit_spread.py estimates, are too small. docs/benchmarks.md has the record.
// The factors belong to the response and the kernel that they were learned with.
double spread_factor(Epoch now, Epoch then);  // now = 0: of a configuration that was not trained yet

}  // namespace bapi
