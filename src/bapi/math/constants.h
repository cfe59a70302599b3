#pragma once

#include <limits>

namespace bapi {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kLogTwoPi = 1.8378770664093454836;

}  // namespace bapi
