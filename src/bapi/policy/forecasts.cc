#include "bapi/policy/forecasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/gp/monotone_gp.h"

namespace bapi {

Forecast forecast_of(const History& history, const ResponseScale& scale, const Expected& expected) {
  const Prognosis law({.epochs = {expected.epoch},
                       .mean = Vector::Constant(1, expected.mean),
                       .sd = Vector::Constant(1, expected.measured_sd),
                       .reached = expected.reached.value_or(-std::numeric_limits<double>::infinity()),
                       .errors = expected.errors},
                      scale,
                      expected.reached ? Worth::best_epoch : Worth::last_epoch);
  return forecast_of(history,
                     scale,
                     law,
                     0,
                     {.mean = expected.mean,
                      .sd = expected.sd,
                      .target = expected.target,
                      .log_unit = score_in_metric(scale, expected.best, 0.0).log},
                     expected.best);
}

Forecast forecast_of(const History& history,
                     const ResponseScale& scale,
                     const Prognosis& law,
                     Eigen::Index i,
                     const ScoreBasis& basis,
                     double best) {
  Forecast forecast{.epoch = law.epochs()[static_cast<std::size_t>(i)],
                    .mean = history.in_user_units(law.mean(i)),
                    .incumbent = history.in_user_units(scale.undo(best)),
                    .target = history.in_user_units(scale.undo(basis.target)),
                    .stays = law.chance_to_stay(i),
                    .basis = basis};
  for (const double share : kForecastShares) {
    forecast.quantiles.push_back(history.in_user_units(law.quantile(i, share)));
  }
  if (std::isfinite(law.reached())) forecast.reached = history.in_user_units(scale.undo(law.reached()));
  std::sort(forecast.quantiles.begin(), forecast.quantiles.end());
  constexpr double kNinetyPercent = 1.2815515655446004;
  forecast.shown_sd = (forecast.high() - forecast.low()) / (2.0 * kNinetyPercent);
  return forecast;
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
