#include "bapi/planner/early_termination.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {

void TerminationOptions::validate() const {
  require(kappa > 0.0, fmt::format("termination.kappa = {}, must be positive", kappa));
}

bool should_terminate(double mean_at_stop, double sd_at_stop, double sd_now, double best, double kappa) {
  return mean_at_stop <= best && sd_at_stop <= kappa * sd_now;
}

TerminationCheck check_termination(const CurvePosterior& posterior,
                                   const CurveAt& curve,
                                   double best,
                                   StopRule rule,
                                   const TerminationOptions& options) {
  options.validate();
  rule.min_epoch = std::clamp(curve.done, rule.min_epoch, rule.max_epoch);
  TerminationCheck result;
  result.stop = conservative_stop(posterior, curve.x, curve.group, rule);
  result.best = best;
  result.log_probability = posterior.log_probability();
  const Moments moments =
      posterior.predict(Rows::of_curve(curve.x, {result.stop, rule.min_epoch}, rule.max_epoch, curve.group));
  const double noise = posterior.noise();
  result.mean_at_stop = moments.mean[0];
  result.sd_at_stop = std::sqrt(moments.variance[0] + noise);
  result.sd_now = std::sqrt(moments.variance[1] + noise);
  result.terminate = should_terminate(result.mean_at_stop, result.sd_at_stop, result.sd_now, best, options.kappa);
  return result;
}

Epoch next_check(Epoch now, Epoch stop, Epoch block) {
  check(block >= 1, "early termination: a block has at least one epoch");
  return std::max(now, std::min(stop, now + block));
}

}  // namespace bapi
