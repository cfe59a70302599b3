#pragma once

#include <cstdint>

namespace bapi {

using Epoch = int;    // 1-based; the paper's t; 0 is the untrained model
using Cost = double;  // in the unit of the study's budget (seconds, epochs, dollars, joules)

// Dense per study: 0, 1, 2, ...
enum class TrialId : std::int64_t {};

inline std::int64_t index(TrialId trial) { return static_cast<std::int64_t>(trial); }

}  // namespace bapi
