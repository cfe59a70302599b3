#include "bapi/acquisition/cost_cooling.h"

#include <cmath>

#include "bapi/acquisition/improvement.h"

namespace bapi {

double log_cooled_improvement(double log_improvement, double log_cost_mean, double log_cost_variance, double a) {
  return log_improvement - a * log_cost_mean + 0.5 * a * a * log_cost_variance;
}

SearchObjective cooled_objective(const BudgetedModels& models, double a) {
  const double best = models.best;
  const double unit = models.log_cost_unit.scale;
  const double mean = models.log_cost_unit.mean;
  const Surrogate& gp = models.values;
  const Surrogate& costs = models.log_costs;
  const auto score = [=, &gp, &costs](const Matrix& points) {
    const Rows rows = Rows::at_configurations(points.transpose());
    const Moments value = gp.predict(rows);
    const Moments cost = costs.predict(rows);
    Vector result(points.cols());
    for (Eigen::Index i = 0; i < result.size(); ++i) {
      result[i] = log_cooled_improvement(log_expected_improvement(value.mean[i], std::sqrt(value.variance[i]), best),
                                         mean + unit * cost.mean[i],
                                         unit * unit * cost.variance[i],
                                         a);
    }
    return result;
  };
  return {.screen = score,
          .score = score,
          .ascend = [=, &gp, &costs](const Matrix& points, Vector& values, Matrix& gradients) {
            const Rows rows = Rows::at_configurations(points.transpose());
            const ImprovementGradients value = log_expected_improvement(gp, rows, best);
            const MomentGradients cost = costs.predict_with_gradients(rows);
            const double square = 0.5 * a * a * unit * unit;
            values = value.log_values - a * unit * cost.moments.mean + square * cost.moments.variance;
            values.array() -= a * mean;
            gradients = value.gradients - a * unit * cost.mean + square * cost.variance;
          }};
}

}  // namespace bapi
