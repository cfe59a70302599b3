#include <fmt/format.h>

#include <algorithm>
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

constexpr int kMostRuns = 16;

struct WhatIfArguments {
  ListingArguments listing;
  std::optional<std::string> budget;
  std::string out;
};

std::string plot_outlook(const StudyView& study, const PlanSummary& plan, Cost total) {
  const Cost spent = study.history.budget().spent();
  std::vector<Point> mean;
  std::vector<Point> low;
  std::vector<Point> high;
  std::vector<double> values;
  for (const Outlook& at : plan.outlook) {
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

int what_if(const WhatIfArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  require(arguments.budget.has_value(), "bapi what-if needs --budget, as in --budget 3h or --budget +1h");
  const StudyView study = open_study(arguments.listing.study);
  const Cost total = parse_total(*arguments.budget, study);
  const Cost spent = study.history.budget().spent();
  require(total > spent,
          fmt::format("--budget {}: {} is spent already", *arguments.budget, short_cost(spent, study.spec().budget)));
  const PlanSummary plan = insight_of(study).plan(total - spent - study.history.budget().committed(), kMostRuns);
  Table table({"runs", "budget", "best", "low", "high"});
  for (std::size_t i = 0; i < plan.outlook.size(); ++i) {
    const Outlook& at = plan.outlook[i];
    table.add({static_cast<std::int64_t>(i), spent + at.cost, at.best.mean, at.best.low, at.best.high});
  }
  print(render(table, format));
  if (std::ssize(plan.runs) == kMostRuns) {
    note(fmt::format("looked {} runs ahead; {} of the budget is beyond that",
                     kMostRuns,
                     short_cost(plan.left, study.spec().budget)));
  }
  note("picture: " + write_picture(study, arguments.out, "what-if.svg", plot_outlook(study, plan, total)));
  return kDone;
}

}  // namespace

Command what_if_command() {
  return {.name = "what-if",
          .summary = "The best value to be expected with another budget",
          .examples =
              "Examples:\n"
              "  bapi what-if mlp --budget 3h       a total\n"
              "  bapi what-if mlp --budget +1h      more than now\n\n"
              "Rolls the planner forward on its model: after each further run, what has been spent in total and the\n"
              "best value expected then, with its 80 % band. Writes what-if.svg. Nothing is changed in the study.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<WhatIfArguments>();
            parsed->listing.declare(arguments);
            arguments.option("-b,--budget", parsed->budget, "Total, or +more");
            arguments.option("-o,--out", parsed->out, "Directory for the picture; default: plots/ of the study");
            return [parsed] { return what_if(*parsed); };
          }};
}

}  // namespace bapi
