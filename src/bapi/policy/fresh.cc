#include "bapi/policy/fresh.h"

#include <algorithm>
#include <numeric>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

std::vector<int> shuffled(int n, Rng rng) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(rng.below(i + 1))]);
  return order;
}

bool tried(const History& history, const Config& config) {
  return std::any_of(
      history.trials().begin(), history.trials().end(), [&](const Trial& trial) { return trial.config == config; });
}

}  // namespace

std::optional<Config> fresh_config(const History& history) {
  const StudySpec& spec = history.spec();
  const Rng design = Rng(spec.seed).fork("design");
  if (spec.pool.empty()) {
    Rng stream = design.fork("config", static_cast<std::uint64_t>(history.trials().size()));
    return spec.space.sample(stream);
  }
  for (const int row : shuffled(static_cast<int>(spec.pool.size()), design)) {
    const Config& config = spec.pool[static_cast<std::size_t>(row)];
    if (!tried(history, config)) return config;
  }
  return std::nullopt;
}

}  // namespace bapi
