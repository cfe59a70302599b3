#include "bapi/study/budget.h"

#include <algorithm>

namespace bapi {
namespace {

constexpr double kSumSlack = 1e-9;  // of the total

}  // namespace

Budget::Budget(Cost total, Cost spent, Cost committed, Cost reserved)
    : total_(total), spent_(spent), committed_(committed), reserved_(reserved) {}

Cost Budget::remaining() const { return std::max(0.0, total_ - spent_ - committed_ - reserved_); }

Cost Budget::rounding() const { return kSumSlack * total_; }

}  // namespace bapi
