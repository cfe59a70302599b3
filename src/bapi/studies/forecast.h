#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bapi/report/table.h"
#include "bapi/studies/study_insight.h"

namespace bapi {

// How the curve of one trial is expected to go on, or those of all trials that can still grow, the most promising first
// (without any, all that reported). Throws InvalidInput if there is no such trial or nothing to predict from.
std::vector<CurveForecast> forecast(const StudyState& study, std::optional<std::int64_t> trial);

// The same of all trials, with models that were fitted to `study` already.
std::vector<CurveForecast> forecast_all(const StudyState& study, const Insight& insight);

// One row per trial: {trial, epochs, now, final, low, high, stop, cost_to_finish, chance_of_best}.
Table forecast_table(const StudyState& study, std::span<const CurveForecast> forecasts);

// One row per epoch: {epoch, measured, expected, low, high}.
Table course_table(const StudyState& study, const CurveForecast& forecast);

std::string plot_forecasts(const StudyState& study, std::span<const CurveForecast> forecasts);

}  // namespace bapi
