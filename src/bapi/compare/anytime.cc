#include "bapi/compare/anytime.h"

#include <cmath>
#include <map>
#include <tuple>

#include "bapi/base/error.h"
#include "bapi/compare/standings.h"

namespace bapi {
namespace {

constexpr int kGridPoints = 50;

using RunKind = std::tuple<std::string, std::string, std::string, int>;  // table, policy, budget, workers

std::vector<MeanAndError> over_seeds(const std::vector<std::vector<double>>& runs) {
  std::vector<MeanAndError> curve;
  for (int i = 0; i < kGridPoints; ++i) {
    std::vector<double> values;
    for (const std::vector<double>& run : runs) values.push_back(run[static_cast<std::size_t>(i)]);
    curve.push_back(mean_and_error(values));
  }
  return curve;
}

// Tables are fixed: the error of their mean is that of the seeds alone.
std::vector<MeanAndError> over_tables(const std::vector<const AnytimeCurve*>& tables) {
  std::vector<MeanAndError> curve;
  const auto count = static_cast<double>(tables.size());
  for (std::size_t i = 0; i < kGridPoints; ++i) {
    MeanAndError sum;
    for (const AnytimeCurve* table : tables) {
      sum.mean += table->regret[i].mean;
      sum.error += table->regret[i].error * table->regret[i].error;
    }
    curve.push_back({.mean = sum.mean / count, .error = std::sqrt(sum.error) / count});
  }
  return curve;
}

}  // namespace

std::vector<double> anytime_grid() {
  std::vector<double> grid;
  for (int i = 1; i <= kGridPoints; ++i) grid.push_back(static_cast<double>(i) / kGridPoints);
  return grid;
}

std::vector<double> anytime_regret(const RunRecord& run) {
  // A result that arrives with the last of the budget still counts, although sums of costs are rounded.
  constexpr double kSlack = 1e-9;
  std::vector<double> regret;
  double now = kRegretCap;
  auto next = run.trajectory.begin();
  for (const double fraction : anytime_grid()) {
    for (; next != run.trajectory.end() && next->first <= fraction + kSlack; ++next) now = capped(next->second);
    regret.push_back(now);
  }
  return regret;
}

std::vector<AnytimeCurve> anytime_curves(const Comparison& comparison, std::span<const RunRecord> records) {
  std::map<RunKind, std::vector<std::vector<double>>> runs;
  for (const RunRecord& run : records) {
    runs[{run.key.table, run.key.policy, run.key.budget, run.key.workers}].push_back(anytime_regret(run));
  }
  std::vector<AnytimeCurve> curves;
  for (const TableBudget& budget : comparison.budgets) {
    for (const int workers : comparison.workers) {
      std::vector<AnytimeCurve> singles;
      for (const CurveTable& table : comparison.tables) {
        for (const ComparedPolicy& policy : comparison.policies) {
          const auto& cell = runs[{table.name, policy.label, budget.text(), workers}];
          check(!cell.empty(), "anytime_curves: a run is missing");
          singles.push_back({table.name, policy.label, budget.text(), workers, over_seeds(cell)});
        }
      }
      for (std::size_t p = 0; p < comparison.policies.size(); ++p) {
        std::vector<const AnytimeCurve*> of_policy;
        for (std::size_t i = p; i < singles.size(); i += comparison.policies.size()) of_policy.push_back(&singles[i]);
        curves.push_back({"", comparison.policies[p].label, budget.text(), workers, over_tables(of_policy)});
      }
      curves.insert(curves.end(), singles.begin(), singles.end());
    }
  }
  return curves;
}

}  // namespace bapi
