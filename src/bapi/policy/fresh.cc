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

}  // namespace

std::vector<bool> tried_rows(const History& history) {
  std::vector<bool> tried(history.spec().pool.size(), false);
  for (const Trial& trial : history.trials()) {
    if (trial.pool_row >= 0) tried[static_cast<std::size_t>(trial.pool_row)] = true;
  }
  return tried;
}

std::optional<Config> fresh_config(const History& history) {
  const StudySpec& spec = history.spec();
  const Rng design = Rng(spec.seed).fork("design");
  if (spec.pool.empty()) {
    Rng stream = design.fork("config", static_cast<std::uint64_t>(history.trials().size()));
    return spec.space.sample(stream);
  }
  const std::vector<bool> tried = tried_rows(history);
  for (const int row : shuffled(static_cast<int>(spec.pool.size()), design)) {
    if (!tried[static_cast<std::size_t>(row)]) return spec.pool[static_cast<std::size_t>(row)];
  }
  return std::nullopt;
}

}  // namespace bapi
