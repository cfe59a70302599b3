#pragma once

#include <algorithm>

#include "bapi/study/spec.h"

namespace bapi {

// What runs now, in the unit of the budget; 0 unless time is the cost.
struct Running {
  Cost accrued = 0.0;  // and is not in the log yet
  Cost rate = 0.0;     // per second from now on, all processes together
};

// Of processes that were charged for until some instant each.
class RunningSum {
 public:
  // One that runs, and one that has ended and is not charged for its last seconds yet.
  void add_running(double charged_until, double now) {
    add_ended(charged_until, now);
    ++running_;
  }
  void add_ended(double charged_until, double ended_at) { seconds_ += std::max(0.0, ended_at - charged_until); }

  // By facts that are not in the log yet.
  void add_charged(Cost cost) { charged_ += cost; }

  Running in(const BudgetSpec& budget) const {
    if (budget.meter != Meter::accrued) return {};
    return {.accrued = budget.of_seconds(seconds_) + charged_, .rate = budget.of_seconds(running_)};
  }

 private:
  double seconds_ = 0.0;
  Cost charged_ = 0.0;
  int running_ = 0;
};

}  // namespace bapi
