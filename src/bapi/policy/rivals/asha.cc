#include "bapi/policy/rivals/asha.h"

#include <algorithm>

#include "bapi/policy/race.h"
#include "bapi/policy/shared_options.h"

namespace bapi {

PolicyInfo Asha::info() {
  return {.name = "asha",
          .summary = "successive halving that never waits for a rung, for many workers",
          .options = halving_options().describe({})};
}

Asha::Asha(const PolicySpec& spec) : options_(halving_options().read(spec, {})) {}

Decision Asha::ask(const History& history, Rng&) {
  const EpochRange epochs = history.spec().epochs;
  const Epoch lowest = std::min(epochs.max, options_.min_epoch.value_or(epochs.min));
  return race(history, race_rungs(lowest, epochs.max, options_.eta), options_.eta);
}

}  // namespace bapi
