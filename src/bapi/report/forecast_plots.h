#pragma once

#include <span>
#include <string>
#include <vector>

#include "bapi/study/history.h"

namespace bapi {

// A predicted value with the ends of its central 80 % band, over an epoch or a cost. In the user's direction.
struct BandPoint {
  double x = 0.0;
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

// The best value to be expected over the total budget, up to `total`.
std::string plot_outlook(const History& history, std::span<const BandPoint> best_by_total, Cost total);

// How one trial is expected to go on, epoch by epoch, from where it stands.
struct CurveBand {
  TrialId trial{};
  std::vector<BandPoint> course = {};
};

// Measured curves and their forecasts; of many the first eight.
std::string plot_forecasts(const History& history, std::span<const CurveBand> forecasts);

}  // namespace bapi
