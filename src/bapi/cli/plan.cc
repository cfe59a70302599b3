#include <fmt/format.h>

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/insight_input.h"
#include "bapi/cli/listing.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

struct PlanArguments {
  ListingArguments listing;
  std::optional<int> horizon;
};

Fields prediction_fields(const Prediction& p) { return {{"mean", p.mean}, {"low", p.low}, {"high", p.high}}; }

Table plan_table(const StudyView& study, const PlanSummary& plan) {
  Table table({"next", "trial", "from", "until", "cost", "predicted", "low", "high", "improvement", "config"});
  for (const PlannedTraining& run : plan.runs) {
    table.add({run.next ? Cell("*") : Cell(),
               run.trial ? Cell(index(*run.trial)) : Cell("new"),
               run.from,
               run.until,
               run.cost,
               run.value.mean,
               run.value.low,
               run.value.high,
               run.improvement,
               fields_of(run.config, study.spec().space)});
  }
  return table;
}

Fields plan_record(const StudyView& study, const PlanSummary& plan) {
  std::vector<Cell> runs;
  for (const PlannedTraining& run : plan.runs) {
    runs.emplace_back(Fields{{"next", run.next},
                             {"trial", run.trial ? Cell(index(*run.trial)) : Cell()},
                             {"from", run.from},
                             {"until", run.until},
                             {"cost", run.cost},
                             {"predicted", prediction_fields(run.value)},
                             {"improvement", run.improvement},
                             {"config", fields_of(run.config, study.spec().space)}});
  }
  return {{"budget", plan.budget},
          {"left", plan.left},
          {"runs", std::move(runs)},
          {"final_best", prediction_fields(plan.outlook.back().best)}};
}

int show_plan(const PlanArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  const StudyView study = open_study(arguments.listing.study);
  const BudgetSpec& unit = study.spec().budget;
  const PlanSummary plan = insight_of(study).plan(study.history.budget().remaining(), arguments.horizon.value_or(4));
  if (format == Format::json) {
    print(render(plan_record(study, plan), format));
    return kDone;
  }
  print(render(plan_table(study, plan), format));
  const Prediction& final_best = plan.outlook.back().best;
  note(fmt::format(
      "{} remain, the plan uses {}", short_cost(plan.budget, unit), short_cost(plan.budget - plan.left, unit)));
  note(fmt::format("{} is now {}, after these runs {} is expected (80 %: {} to {})",
                   study.spec().metric.name,
                   short_number(plan.outlook.front().best.mean),
                   short_number(final_best.mean),
                   short_number(final_best.low),
                   short_number(final_best.high)));
  if (plan.runs.empty()) note("nothing affordable is left that could improve on it");
  return kDone;
}

}  // namespace

Command plan_command() {
  return {.name = "plan",
          .summary = "What the planner would run next, and what it expects of it",
          .examples =
              "Examples:\n"
              "  bapi plan mlp\n"
              "  bapi plan mlp --horizon 8 -f json\n\n"
              "The runs that together promise most within the remaining budget, each up to the epoch where its curve\n"
              "is expected to flatten out; * is the one with the best improvement per cost. Costs are in the budget's\n"
              "unit, predictions with their 80 % band.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<PlanArguments>();
            parsed->listing.declare(arguments);
            arguments.option("--horizon", parsed->horizon, "Runs to look ahead; default 4");
            return [parsed] { return show_plan(*parsed); };
          }};
}

}  // namespace bapi
