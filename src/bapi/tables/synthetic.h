#pragma once

#include <string>
#include <vector>

#include "bapi/tables/curve_table.h"

namespace bapi {

enum class CurveShape {
  power_law,  // rises quickly, then ever slower
  sigmoid,    // nothing for a while, then a steep rise
  diverging,  // power laws of which a third explodes
  crossing,   // what is good early ends badly: slow starters win
  late,       // nothing above chance for a third of the epochs and more, whatever comes of it
};

struct SyntheticOptions {
  CurveShape shape = CurveShape::power_law;
  int rows = 200;
  int dimensions = 3;
  Epoch epochs = 50;
  double cost_ratio = 10.0;  // cost per epoch of the dearest configuration over the cheapest, at least 1
  double noise = 0.005;      // standard deviation of each value
  double failures = 0.0;     // share of the trainings that break down by bad luck, each in an epoch of its own
  double crash = 0.0;        // share of the configurations, those with the largest x1, that break down in epoch 1
  std::uint64_t seed = 0;

  void validate() const;
};

std::vector<std::string> curve_shapes();  // "power-law", "sigmoid", "diverging", "crossing", "late"
CurveShape parse_curve_shape(const std::string& text);

// Made-up learning curves, smooth in the configuration, for tests and trials without data. Failures cut curves short
// and leave everything else as it is: the same table without them has the same values and costs.
CurveTable synthetic_table(const SyntheticOptions& options);

}  // namespace bapi
