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
};

struct SyntheticOptions {
  CurveShape shape = CurveShape::power_law;
  int rows = 200;
  int dimensions = 3;
  Epoch epochs = 50;
  double cost_ratio = 10.0;  // cost per epoch of the dearest configuration over the cheapest, at least 1
  double noise = 0.005;      // standard deviation of each value
  std::uint64_t seed = 0;

  void validate() const;
};

std::vector<std::string> curve_shapes();  // "power-law", "sigmoid", "diverging", "crossing"
CurveShape parse_curve_shape(const std::string& text);

// Made-up learning curves, smooth in the configuration, for tests and trials without data.
CurveTable synthetic_table(const SyntheticOptions& options);

}  // namespace bapi
