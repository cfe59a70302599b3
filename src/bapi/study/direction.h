#pragma once

#include "bapi/study/spec.h"

namespace bapi {

// A value as one to be maximised, and back. Whoever compares values asks here which way the goal points.
constexpr double oriented(double value, Goal goal) { return goal == Goal::maximize ? value : -value; }

}  // namespace bapi
