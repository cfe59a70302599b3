#pragma once

namespace bapi {

// How often what was predicted came true: coverage of the central bands.
struct Coverage {
  int count = 0;
  double within_50 = 0.0;
  double within_80 = 0.0;
  double within_95 = 0.0;
  bool operator==(const Coverage&) const = default;
};

struct Calibration {
  Coverage value;  // of the value at the epoch that a decision looked at
  Coverage cost;   // of the cost of the segment that it decided
  bool operator==(const Calibration&) const = default;
};

}  // namespace bapi
