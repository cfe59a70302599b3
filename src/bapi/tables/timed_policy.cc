#include "bapi/tables/timed_policy.h"

#include <utility>

namespace bapi {

Decision TimedPolicy::ask(const History& history, Rng& rng) {
  const double start = clock_.now();
  Decision decision = policy_.ask(history, rng);
  decisions_.push_back({.trials = static_cast<int>(history.trials().size()), .seconds = clock_.now() - start});
  return decision;
}

double TimedPolicy::seconds() const {
  double sum = 0.0;
  for (const TimedDecision& decision : decisions_) sum += decision.seconds;
  return sum;
}

std::span<const TimedDecision> TimedPolicy::take_decisions() {
  return decisions().subspan(std::exchange(taken_, decisions_.size()));
}

}  // namespace bapi
