#include "bapi/studies/forecast.h"

#include <algorithm>

#include "bapi/report/forecast_plots.h"

namespace bapi {
namespace {

template <typename Wanted>
std::vector<CurveForecast> forecasts_of(const StudyState& study, const Insight& insight, Wanted wanted) {
  std::vector<CurveForecast> forecasts;
  for (const Trial& trial : study.history.trials()) {
    if (!trial.curve.empty() && wanted(trial)) forecasts.push_back(insight.forecast(trial));
  }
  return forecasts;
}

bool can_grow(const Trial& trial) { return trial.segment || trial.resumable(); }

}  // namespace

std::vector<CurveForecast> forecast(const StudyState& study, std::optional<std::int64_t> trial) {
  const Insight insight = insight_of(study);
  if (trial) return {insight.forecast(trial_of(study, *trial))};
  return forecast_all(study, insight);
}

std::vector<CurveForecast> forecast_all(const StudyState& study, const Insight& insight) {
  std::vector<CurveForecast> forecasts = forecasts_of(study, insight, can_grow);
  if (forecasts.empty()) forecasts = forecasts_of(study, insight, [](const Trial&) { return true; });
  std::stable_sort(forecasts.begin(), forecasts.end(), [](const CurveForecast& a, const CurveForecast& b) {
    return a.chance_of_best > b.chance_of_best;
  });
  return forecasts;
}

Table forecast_table(const StudyState& study, std::span<const CurveForecast> forecasts) {
  Table table({"trial", "epochs", "now", "final", "low", "high", "stop", "cost_to_finish", "chance_of_best"});
  for (const CurveForecast& f : forecasts) {
    const Prediction& last = f.curve.back();
    table.add({index(f.trial),
               f.done,
               study.history.in_user_units(study.history.trial(f.trial).curve.best()),
               last.mean,
               last.low,
               last.high,
               f.stop,
               f.cost_to_finish,
               f.chance_of_best});
  }
  return table;
}

Table course_table(const StudyState& study, const CurveForecast& f) {
  const Curve& curve = study.history.trial(f.trial).curve;
  Table table({"epoch", "measured", "expected", "low", "high"});
  for (std::size_t t = 0; t < f.epochs.size(); ++t) {
    const Epoch epoch = f.epochs[t];
    const Measurement* measured = curve.find(epoch);
    table.add({epoch,
               measured ? Cell(study.history.in_user_units(measured->value)) : Cell(),
               f.curve[t].mean,
               f.curve[t].low,
               f.curve[t].high});
  }
  return table;
}

std::string plot_forecasts(const StudyState& study, std::span<const CurveForecast> forecasts) {
  std::vector<CurveBand> bands;
  for (const CurveForecast& f : forecasts) {
    CurveBand& band = bands.emplace_back(CurveBand{.trial = f.trial});
    for (std::size_t t = 0; t < f.epochs.size(); ++t) {
      if (f.epochs[t] < f.done) continue;
      band.course.push_back({.x = static_cast<double>(f.epochs[t]),
                             .mean = f.curve[t].mean,
                             .low = f.curve[t].low,
                             .high = f.curve[t].high});
    }
  }
  return plot_forecasts(study.history, bands);
}

}  // namespace bapi
