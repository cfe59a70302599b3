#include "bapi/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"

namespace bapi {
namespace {

template <typename Range, typename NameOf>
void require_distinct(const Range& range, const std::string& what, const NameOf& name_of) {
  require(!range.empty(), fmt::format("compare: there is no {}", what));
  std::set<std::string> seen;
  for (const auto& item : range) {
    require(seen.insert(name_of(item)).second, fmt::format("compare: the {} {} is given twice", what, name_of(item)));
  }
}

}  // namespace

std::string to_text(const PolicySpec& spec) {
  std::string text = spec.name;
  for (const auto& [name, value] : spec.options) text += fmt::format(":{}={}", name, to_text(value));
  return text;
}

void Comparison::validate() const {
  require_distinct(tables, "table", [](const CurveTable& table) { return table.name; });
  require_distinct(policies, "policy", [](const ComparedPolicy& policy) { return policy.label; });
  require_distinct(budgets, "budget", [](const TableBudget& budget) { return budget.text(); });
  require_distinct(workers, "number of workers", [](int count) { return std::to_string(count); });
  for (const ComparedPolicy& policy : policies) {
    require(!policy.warm || !from.empty(), fmt::format("compare: {} has no study to start from", policy.label));
  }
  require(seeds >= 1, fmt::format("compare: seeds = {}, must be at least 1", seeds));
  for (const int count : workers) require(count >= 1, fmt::format("compare: workers = {}, must be at least 1", count));
  for (const ComparedPolicy& policy : policies) {
    make_policy(policy.spec);
    require(overhead != OverheadCharge::modelled || models.contains(policy.label),
            fmt::format("compare: it is not known what a decision of {} takes", policy.label));
  }
  for (const CurveTable& table : tables) {
    require(table.has_result(), fmt::format("compare: {} has no finite value of {}", table.name, table.metric.name));
    for (const TableBudget& budget : budgets) {
      require(budget.on(table) > 0.0,
              fmt::format("compare: a budget of {} is 0 on {}, whose runs cost nothing", budget.text(), table.name));
    }
  }
}

bool Comparison::charges_decisions_on(const CurveTable& table) const {
  return overhead != OverheadCharge::none && table.cost_unit == "s";
}

std::vector<std::string> Comparison::free_tables() const {
  std::vector<std::string> names;
  for (const CurveTable& table : tables) {
    if (overhead != OverheadCharge::none && !charges_decisions_on(table)) names.push_back(table.name);
  }
  return names;
}

std::vector<std::uint64_t> Comparison::seed_numbers() const {
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(seeds));
  std::iota(numbers.begin(), numbers.end(), first_seed);
  return numbers;
}

std::string to_text(const RunKey& key) {
  return fmt::format("{}, {}, budget {}, {} worker{}, seed {}",
                     key.table,
                     key.policy,
                     key.budget,
                     key.workers,
                     key.workers == 1 ? "" : "s",
                     key.seed);
}

std::vector<RunKey> keys_of(const Comparison& comparison) {
  std::vector<TableBudget> budgets = comparison.budgets;
  std::stable_sort(
      budgets.begin(), budgets.end(), [](const TableBudget& a, const TableBudget& b) { return a.amount > b.amount; });
  std::vector<RunKey> keys;
  for (const std::uint64_t seed : comparison.seed_numbers()) {
    for (const TableBudget& budget : budgets) {
      for (const int workers : comparison.workers) {
        for (const ComparedPolicy& policy : comparison.policies) {
          for (const CurveTable& table : comparison.tables) {
            keys.push_back({.table = table.name,
                            .policy = policy.label,
                            .budget = budget.text(),
                            .workers = workers,
                            .seed = seed});
          }
        }
      }
    }
  }
  return keys;
}

}  // namespace bapi
