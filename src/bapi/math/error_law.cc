#include "bapi/math/error_law.h"

#include <algorithm>
#include <cmath>

namespace bapi {
namespace {

constexpr double kEnd = 1.959963984540054;  // of the central 95 %

double bent(double z, double tail) { return tail > 0.0 ? std::sinh(tail * z) / tail : z; }

}  // namespace

double ErrorLaw::error(double z) const {
  const double inner = bent(std::clamp(z, -kEnd, kEnd), tail);
  return shift + scale * (std::abs(z) > kEnd ? std::abs(inner) * (z / kEnd) : inner);
}

double ErrorLaw::z(double error) const {
  const double inner = (error - shift) / scale;
  const double end = bent(kEnd, tail);
  if (std::abs(inner) > end) return inner / end * kEnd;
  return tail > 0.0 ? std::asinh(tail * inner) / tail : inner;
}

}  // namespace bapi
