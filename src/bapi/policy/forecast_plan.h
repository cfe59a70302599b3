#pragma once

#include <optional>
#include <vector>

#include "bapi/policy/planning.h"

namespace bapi {

// One training of a plan with its forecast.
struct PlannedForecast {
  CurveAt at;
  std::optional<std::size_t> candidate = {};  // its place in the list of candidates; none: see `at`
  Epoch until = 0;
  Cost cost = 0.0;
  Prognosis law;  // at `until` first, then at later epochs
};

// What several trainings come to together: equally likely results of each, dependent as far as their configurations are
// alike, with the laws of the forecasts. Row k is one future, column i a training; scores, to be maximised.
Matrix joint_results(const Models& models, const std::vector<PlannedForecast>& runs, const Rng& rng);
inline constexpr int kFutures = Prognosis::kParts;  // so that the mean of each column is that of its forecast

// The trainings that together promise most within the budget, by the forecasts: greedily the one that adds most to the
// best value per cost, each to the epoch where its forecast is flat. The last one gets as many epochs as the budget
// pays. At most `length`.
std::vector<PlannedForecast> plan_by_forecasts(
    const Planning& planning, const std::vector<Candidate>& candidates, Cost budget, int length, const Rng& rng);

}  // namespace bapi
