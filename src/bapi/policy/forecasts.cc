#include "bapi/policy/forecasts.h"

#include <fmt/format.h>

#include <cmath>

#include "bapi/gp/monotone_gp.h"

namespace bapi {

Forecast forecast_of(const History& history, const ResponseScale& scale, const Expected& expected) {
  const double slope = scale.slope(expected.mean);
  return {.epoch = expected.epoch,
          .mean = history.in_user_units(scale.undo(expected.mean)),
          .sd = expected.sd * slope,
          .shown_sd = expected.measured_sd * slope,
          .incumbent = history.in_user_units(scale.undo(expected.best)),
          .target = history.in_user_units(scale.undo(expected.target)),
          .gap = scale.warp.gap};
}

Score score_in_metric(const ResponseScale& scale, double best, double log_improvement) {
  return {.log = log_improvement + std::log(scale.slope(best)), .unit = ScoreUnit::metric};
}

std::vector<Note> notes_of(const FitSummary& fit) {
  std::vector<Note> notes;
  if (fit.end != FitEnd::converged) {
    notes.push_back({.kind = NoteKind::fit_not_converged, .value = static_cast<double>(fit.evaluations)});
  }
  if (fit.jitter_used > 0.0) notes.push_back({.kind = NoteKind::jitter, .value = fit.jitter_used});
  const Eigen::Index earlier = fit.trend_weights.size();
  for (Eigen::Index k = 0; k < earlier; ++k) {
    const std::string name = earlier == 1 ? "the earlier study" : fmt::format("earlier study {}", k + 1);
    notes.push_back({.kind = NoteKind::other, .name = "weight of " + name, .value = fit.trend_weights[k]});
  }
  return notes;
}

std::vector<Note> notes_of_constraint(double log_probability) {
  if (!(log_probability < kContradictionLogProbability)) return {};
  return {{.kind = NoteKind::constraint_contradicted, .value = log_probability}};
}

}  // namespace bapi
