#pragma once

#include <string>
#include <vector>

#include "bapi/study/history.h"

namespace bapi {

// Pictures of how results depend on parameters, as SVG text. The result of a trial is its best value. Trials that have
// reported nothing are left out; without any, the picture says so.

// What a trial counts by: "best accuracy", or "last accuracy" if the metric says so.
std::string result_name(const Metric& metric);

// The best value of every trial over each parameter that varies, one small diagram per parameter.
std::string plot_slices(const History& history);

// Every trial as a line across its parameters to its best value; the best trials stand out.
std::string plot_parallel(const History& history);

// What each trial has cost against its best value: the lower right of a loss, the upper left of a score, is a bargain.
std::string plot_cost(const History& history);

// How much of the variation of results goes with each parameter alone, as bars.
std::string plot_importance(const History& history);

struct Importance {
  std::string param;
  double share = 0.0;  // of the variance of the smoothed results, 0 to 1
};

// Main effects of the parameters that vary, largest first: results are smoothed over the unit cube by a Gaussian
// kernel, whose width along each parameter is chosen by leaving one out, and averaged over all other parameters of the
// trials that there are. Empty with fewer than `kFewestForImportance` results. It describes the trials that were
// trained, early stops included, and claims nothing beyond them.
inline constexpr int kFewestForImportance = 8;
std::vector<Importance> importance_of(const History& history);

}  // namespace bapi
