#pragma once

#include "bapi/base/units.h"

namespace bapi {

// Why nothing further is begun although something is left.
inline constexpr const char* kNoEpochPayable = "the remaining budget pays for no further epoch";

class Budget {
 public:
  Budget(Cost total, Cost spent, Cost committed, Cost reserved = 0.0);

  Cost total() const { return total_; }
  Cost spent() const { return spent_; }
  // Expected cost of open segments, less what they already cost.
  Cost committed() const { return committed_; }
  // What the search for configurations leaves to the repeats of the finalists; 0 once these have begun.
  Cost reserved() const { return reserved_; }
  // What may be planned with, all in all: the total less what is reserved.
  Cost plannable() const { return total_ - reserved_; }
  // What may still be planned: that, less what was spent, less what is committed. Never negative, although `spent` may
  // pass the total: by the kill latency, or by an epoch per worker where programs report what they cost.
  Cost remaining() const;
  bool exhausted() const { return spent_ >= total_; }

  // What the total leaves once `more` is spent as well, whatever is committed or reserved; negative if it is exceeded.
  Cost unspent(Cost more = 0.0) const { return total_ - (spent_ + more); }
  // Whether that covers a price. The rounding of a sum of many costs does not count: 0.1 + 0.2 still pays for 0.3.
  bool pays(Cost price, Cost more = 0.0) const { return price <= unspent(more) + rounding(); }
  Cost rounding() const;

 private:
  Cost total_;
  Cost spent_;
  Cost committed_;
  Cost reserved_;
};

}  // namespace bapi
