#pragma once

#include <functional>

#include "bapi/policy/decision.h"
#include "bapi/policy/initial_design.h"
#include "bapi/policy/models.h"

namespace bapi {

using ModelDecision = std::function<Decision(const Evidence& evidence, const Models& models)>;

// A decision of a policy with models of curves and costs: the initial design comes first, and then a further trial of
// it while no trial has reported a value and none is running; with a value, `then` decides by the fitted models.
Decision decide_with_models(const History& history,
                            const InitialDesign& design,
                            const ModelOptions& options,
                            const Rng& rng,
                            const ModelDecision& then);

}  // namespace bapi
