#pragma once

#include "bapi/gp/exact_gp.h"
#include "bapi/gp/response.h"
#include "bapi/study/history.h"

namespace bapi {

// What a full run costs, as a function of the configuration alone: a Gaussian process of its logarithm.
struct FullRunCost {
  ExactGp gp;            // of standardised log costs
  Standardization unit;  // of the log costs

  Cost median(const Vector& x) const;
};

// Fitted to what the finished trials cost. Deterministic given the stream.
FullRunCost fit_full_run_cost(const History& history, Rng& rng);

// The budget that is left when the running trials, at their median cost, have finished; never negative.
Cost left_after_running(const History& history, const FullRunCost& cost);

}  // namespace bapi
