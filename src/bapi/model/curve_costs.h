#pragma once

#include <vector>

#include "bapi/cost/cost_model.h"
#include "bapi/model/learning_curve.h"

namespace bapi {

// What the curves cost, for a cost model: the first epoch, the first half of the epochs and
// all epochs of each. Of at most `max_curves`, evenly
// taken: cost is smooth in x, and the model of it must not become more expensive than that of the curves.
CostData curve_costs(const std::vector<LearningCurve>& curves, Eigen::Index dim, int max_curves);

}  // namespace bapi
