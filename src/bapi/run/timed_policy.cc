#include "bapi/run/timed_policy.h"

namespace bapi {

Decision TimedPolicy::ask(const History& history, Rng& rng) {
  const double start = clock_.now();
  Decision decision = policy_.ask(history, rng);
  seconds_ += clock_.now() - start;
  return decision;
}

}  // namespace bapi
