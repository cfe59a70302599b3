#pragma once

namespace bapi {

// How the errors of forecasts are distributed, in units of their deviations: as shift + scale sinh(tail Z) / tail with
// a standard normal Z. The larger `tail`, the more of them are far out; with tail = 0 they are normal. Beyond the ends
// of the central 95 %, where nothing can be learned, errors grow in proportion to Z.
struct ErrorLaw {
  double shift = 0.0;  // their median
  double scale = 1.0;  // above 0
  double tail = 0.0;   // at least 0

  double error(double z) const;  // grows with z
  double z(double error) const;  // its inverse
};

}  // namespace bapi
