#pragma once

#include <optional>
#include <vector>

#include "bapi/base/units.h"

namespace bapi {

// A retained observation of a learning curve.
struct CurvePoint {
  Epoch epoch = 0;
  double value = 0.0;
};

// The smallest gain that was seen between a retained earlier point and the last epoch of one configuration: the
// smallest strictly positive difference over the curves that reached max_epoch, not below `floor`. nullopt if there is
// none.
std::optional<double> observed_epsilon(const std::vector<std::vector<CurvePoint>>& curves,
                                       Epoch max_epoch,
                                       double floor);

// The tolerance of conservative stopping from data: the observed one with a floor of 0.1 % of the range of values, or
// 1 % of that range while nothing was observed. Feed the retained points, at most a few per curve: between neighbouring
// epochs the gain says little.
double automatic_epsilon(const std::vector<std::vector<CurvePoint>>& curves, Epoch max_epoch);

}  // namespace bapi
