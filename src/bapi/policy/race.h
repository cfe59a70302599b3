#pragma once

#include <vector>

#include "bapi/policy/decision.h"
#include "bapi/study/history.h"

namespace bapi {

// Training by rank, without a model: successive halving that promotes and waits for nobody. From the highest rung down,
// the best trial that is among the first floor(n / eta) of the n that have reached its rung, and was not promoted yet,
// is trained to the next rung; if there is none, a new configuration to the lowest. A trial that was trained by another
// rule stands on every rung that it has passed.
//
// When no configuration is new, the best trial of the highest rung goes on, whatever its rank. Finish (Wait while
// something runs) if there is none either.
Decision race(const History& history, const std::vector<Epoch>& rungs, int eta);

// min, min * eta, min * eta^2, ... below max, and max. Hang from the bottom, unlike those of HyperBand.
std::vector<Epoch> race_rungs(Epoch min_epoch, Epoch max_epoch, int eta);

}  // namespace bapi
