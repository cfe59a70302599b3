#pragma once

#include "bapi/base/units.h"

namespace bapi {

// Why nothing further is begun although something is left.
inline constexpr const char* kNoEpochPayable = "what is left of the budget pays for no further epoch";

class Budget {
 public:
  Budget(Cost total, Cost spent, Cost committed);

  Cost total() const { return total_; }
  Cost spent() const { return spent_; }
  // Expected cost of open segments, less what they already cost.
  Cost committed() const { return committed_; }
  // What may still be planned: the total, less what was spent, less what is committed. Never negative, although `spent`
  // may pass the total by the kill latency.
  Cost remaining() const;
  bool exhausted() const { return spent_ >= total_; }

 private:
  Cost total_;
  Cost spent_;
  Cost committed_;
};

}  // namespace bapi
