#include "bapi/studies/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/report/forecast_plots.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

constexpr int kFewRuns = 16;    // looked at in any case, and each of them shown
constexpr int kMostRuns = 128;  // planning further takes longer than anyone waits for
constexpr double kHardlyAnything = 0.02;

// What the runs from one number to another are expected to add.
double gain(const PlanSummary& plan, std::size_t from, std::size_t to) {
  return std::abs(plan.outlook[to].best.mean - plan.outlook[from].best.mean);
}

// Whether the later half of the runs adds next to nothing.
bool has_levelled_off(const PlanSummary& plan) {
  const std::size_t all = plan.runs.size();
  return gain(plan, all / 2, all) <= kHardlyAnything * gain(plan, 0, all);
}

// Looks ever further until the budget is used up, nothing is gained any more, or it would take too long.
PlanSummary far_plan(const Insight& insight, Cost budget) {
  for (int length = kFewRuns;; length *= 2) {
    PlanSummary plan = insight.plan(budget, length);
    if (std::ssize(plan.runs) < length || length >= kMostRuns || has_levelled_off(plan)) return plan;
  }
}

bool is_shown(std::size_t runs, std::size_t last) {
  std::size_t step = 1;
  while (runs >= kFewRuns * step) step *= 2;
  return runs == last || runs % step == 0;
}

std::vector<WhatIf::Row> rows_of(const WhatIf& outlook) {
  std::vector<WhatIf::Row> rows;
  const std::size_t last = outlook.plan.runs.size();
  for (std::size_t i = 0; i <= last; ++i) {
    const Outlook& at = outlook.plan.outlook[i];
    if (is_shown(i, last)) {
      rows.push_back({.runs = static_cast<int>(i), .budget = outlook.spent + at.cost, .best = at.best});
    }
  }
  if (rows.back().budget < outlook.total) {
    rows.push_back({.runs = static_cast<int>(last), .budget = outlook.total, .best = rows.back().best});
  }
  return rows;
}

std::string ending_of(const PlanSummary& plan, const BudgetSpec& unit) {
  const std::size_t runs = plan.runs.size();
  const std::string left = short_cost(plan.left, unit);
  if (runs == 0) return "no affordable trial is expected to improve on the best so far";
  Cost cheapest = plan.runs.front().cost;
  for (const PlannedTraining& run : plan.runs) cheapest = std::min(cheapest, run.cost);
  const std::string trials = plural(std::ssize(plan.runs), "further trial");
  if (plan.left < cheapest) {
    return fmt::format("the budget covers {}; too little remains for another", trials);
  }
  if (std::ssize(plan.runs) < kMostRuns) {
    return fmt::format("after {}, more would add almost nothing; {} of the budget would remain", trials, left);
  }
  return fmt::format(
      "{} were planned, the later half of which adds {}; what the remaining {} could add is not in the last row",
      trials,
      short_number(gain(plan, runs / 2, runs)),
      left);
}

}  // namespace

WhatIf what_if(const StudyState& study, const std::string& budget) {
  const Cost total = parse_total(budget, study);
  const Cost spent = study.history.budget().spent();
  require(total > spent,
          fmt::format("--budget {}: {} is spent already", budget, short_cost(spent, study.spec().budget)));
  return what_if(study, insight_of(study), total);
}

WhatIf what_if(const StudyState& study, const Insight& insight, Cost total) {
  const Budget now = study.history.budget();
  check(total > now.spent(), "what_if: the total is spent already");
  WhatIf outlook{.spent = now.spent(), .total = total};
  outlook.plan = far_plan(insight, outlook.total - outlook.spent - now.committed());
  outlook.rows = rows_of(outlook);
  outlook.ending = ending_of(outlook.plan, study.spec().budget);
  return outlook;
}

Table what_if_table(const WhatIf& outlook) {
  Table table({"runs", "budget", "best", "low", "high"});
  for (const WhatIf::Row& row : outlook.rows) {
    table.add({row.runs, row.budget, row.best.mean, row.best.low, row.best.high});
  }
  return table;
}

std::string plot_what_if(const StudyState& study, const WhatIf& outlook) {
  std::vector<BandPoint> points;
  const auto add = [&](Cost budget, const Prediction& best) {
    points.push_back({.x = budget, .mean = best.mean, .low = best.low, .high = best.high});
  };
  for (const Outlook& at : outlook.plan.outlook) add(outlook.spent + at.cost, at.best);
  if (points.back().x < outlook.total) {
    add(outlook.spent + (outlook.total - outlook.spent), outlook.plan.outlook.back().best);
  }
  return plot_outlook(study.history, points, outlook.total);
}

}  // namespace bapi
