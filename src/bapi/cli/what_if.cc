#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/insight_input.h"
#include "bapi/cli/listing.h"
#include "bapi/report/svg.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

constexpr int kFewRuns = 16;    // looked at in any case, and each of them shown
constexpr int kMostRuns = 128;  // planning further takes longer than anyone waits for
constexpr double kHardlyAnything = 0.02;

struct WhatIfArguments {
  ListingArguments listing;
  std::optional<std::string> budget;
  std::string out;
};

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

// After which numbers of runs a row is shown: the first ones each, then eight for every doubling.
bool is_shown(std::size_t runs, std::size_t last) {
  std::size_t step = 1;
  while (runs >= kFewRuns * step) step *= 2;
  return runs == last || runs % step == 0;
}

std::string plot_outlook(const StudyView& study, const std::vector<Outlook>& outlook, Cost total) {
  const Cost spent = study.history.budget().spent();
  std::vector<Point> mean;
  std::vector<Point> low;
  std::vector<Point> high;
  std::vector<double> values;
  for (const Outlook& at : outlook) {
    mean.push_back({spent + at.cost, at.best.mean});
    low.push_back({spent + at.cost, at.best.low});
    high.push_back({spent + at.cost, at.best.high});
    values.insert(values.end(), {at.best.low, at.best.high});
  }
  Axis x{.label = fmt::format("total budget ({})", study.spec().budget.unit),
         .low = spent,
         .high = std::max(total, spent + 1e-9)};
  Figure figure(fmt::format("{}: what more budget would bring", study.spec().name),
                "expected best value, with its 80 % band",
                x,
                axis_over(values, study.spec().metric.name));
  figure.band(high, low, "#56B4E9", 0.3);
  figure.line(mean, {.color = "#0072B2", .width = 2.0});
  for (const Point& point : mean) figure.marker(point, Marker::disc, 3.0, "#0072B2");
  return figure.svg();
}

// What the last row rests on.
std::string why_no_further(const PlanSummary& plan, const StudyView& study) {
  const std::size_t runs = plan.runs.size();
  const std::string left = short_cost(plan.left, study.spec().budget);
  if (runs == 0) return "nothing that the budget pays for is expected to improve on the best so far";
  Cost cheapest = plan.runs.front().cost;
  for (const PlannedTraining& run : plan.runs) cheapest = std::min(cheapest, run.cost);
  const std::string counted = fmt::format("{} run{}", runs, runs == 1 ? "" : "s");
  if (plan.left < cheapest) {
    return fmt::format("the budget pays for {}, and for nothing more with the {} left then", counted, left);
  }
  if (std::ssize(plan.runs) < kMostRuns) {
    return fmt::format("after {} hardly anything more is to be gained, with {} of the budget left", counted, left);
  }
  return fmt::format(
      "looked {} ahead, of which the later half adds {}; what the further {} would add is not in the last row",
      counted,
      short_number(gain(plan, runs / 2, runs)),
      left);
}

int what_if(const WhatIfArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  require(arguments.budget.has_value(), "bapi what-if needs --budget, as in --budget 3h or --budget +1h");
  const StudyView study = study_to_show(arguments.listing.study);
  const Cost total = parse_total(*arguments.budget, study);
  const Cost spent = study.history.budget().spent();
  require(total > spent,
          fmt::format("--budget {}: {} is spent already", *arguments.budget, short_cost(spent, study.spec().budget)));
  PlanSummary plan = far_plan(insight_of(study), total - spent - study.history.budget().committed());
  const std::size_t last = plan.runs.size();
  Table table({"runs", "budget", "best", "low", "high"});
  const auto add = [&](std::size_t runs, Cost budget, const Prediction& best) {
    table.add({static_cast<std::int64_t>(runs), budget, best.mean, best.low, best.high});
  };
  for (std::size_t i = 0; i <= last; ++i) {
    if (is_shown(i, last)) add(i, spent + plan.outlook[i].cost, plan.outlook[i].best);
  }
  if (const Outlook& end = plan.outlook.back(); spent + end.cost < total) {
    add(last, total, end.best);
    plan.outlook.push_back({.cost = total - spent, .best = plan.outlook[last].best});
  }
  print(render(table, format));
  note(why_no_further(plan, study));
  note("picture: " + write_picture(study, arguments.out, "what-if.svg", plot_outlook(study, plan.outlook, total)));
  return kDone;
}

}  // namespace

Command what_if_command() {
  return {
      .name = "what-if",
      .summary = "The best value to be expected with another budget",
      .examples =
          "Examples:\n"
          "  bapi what-if mlp --budget 3h       a total\n"
          "  bapi what-if mlp --budget +1h      more than now\n\n"
          "Rolls the planner forward on its model: after each further run, what has been spent in total and the\n"
          "best value expected then, with its 80 % band. Ends when the budget does, or when further runs add hardly\n"
          "anything; the last row is the budget that was asked for. Writes what-if.svg. Nothing is changed in the\n"
          "study. JSON: [{runs, budget, best, low, high}].",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<WhatIfArguments>();
        parsed->listing.declare(arguments);
        arguments.option("-b,--budget", parsed->budget, "Total, or +more");
        arguments.option("-o,--out", parsed->out, "Directory for the picture; default: plots/ of the study");
        return [parsed] { return what_if(*parsed); };
      }};
}

}  // namespace bapi
