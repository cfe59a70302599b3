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

// A space with no more configurations than this is searched by listing them.
constexpr std::size_t kMostListed = 1024;

// Draws that may turn out to have been tried before what is left is looked up.
constexpr int kRedraws = 100;

std::optional<std::vector<Config>> untried_of_at_most(const History& history, std::size_t limit) {
  std::optional<std::vector<Config>> all = history.spec().space.all(limit);
  if (all) std::erase_if(*all, [&](const Config& config) { return is_tried(history, config); });
  return all;
}

std::optional<Config> fresh_from_space(const History& history, Rng& rng) {
  Config config = history.spec().space.sample(rng);
  for (int i = 0; i < kRedraws && is_tried(history, config); ++i) config = history.spec().space.sample(rng);
  if (!is_tried(history, config)) return config;
  const std::size_t most = std::max(kMostListed, 2 * history.trials().size());
  const std::optional<std::vector<Config>> untried = untried_of_at_most(history, most);
  if (!untried) return config;
  if (untried->empty()) return std::nullopt;
  return (*untried)[static_cast<std::size_t>(rng.below(static_cast<int>(untried->size())))];
}

}  // namespace

bool is_tried(const History& history, const Config& config) {
  return std::any_of(
      history.trials().begin(), history.trials().end(), [&](const Trial& trial) { return trial.config == config; });
}

bool is_small(const Space& space) { return space.all(kMostListed).has_value(); }

std::optional<std::vector<Config>> untried_in_small_space(const History& history) {
  return untried_of_at_most(history, kMostListed);
}

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
    return fresh_from_space(history, stream);
  }
  const std::vector<bool> tried = tried_rows(history);
  for (const int row : shuffled(static_cast<int>(spec.pool.size()), design)) {
    if (!tried[static_cast<std::size_t>(row)]) return spec.pool[static_cast<std::size_t>(row)];
  }
  return std::nullopt;
}

}  // namespace bapi
