#include "bapi/studies/plan.h"

#include <fmt/format.h>

#include <memory>

#include "bapi/base/match.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/reasons.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

struct PlanArguments {
  ListingArguments listing;
  std::optional<int> horizon;
};

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

std::string in_words(const Decision& decision, const StudyView& study) {
  const auto because = [](const Reason& why) {
    const std::string rule = rule_text(why);
    return rule.empty() ? "" : ": " + rule;
  };
  return std::visit(
      Match{[&](const Start& d) {
              return fmt::format("start a new trial with {}, train to epoch {}{}",
                                 to_text(Cell(fields_of(d.config, study.spec().space))),
                                 d.until,
                                 because(d.why));
            },
            [&](const Resume& d) {
              return fmt::format("resume trial {} to epoch {}{}", index(d.trial), d.until, because(d.why));
            },
            [&](const Stop& d) { return fmt::format("stop trial {} for good{}", index(d.trial), because(d.why)); },
            [](const Wait&) { return std::string("wait for the running trials"); },
            [](const Finish& d) { return fmt::format("finish: {}", d.reason); }},
      decision);
}

int show_plan(const PlanArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  const StudyView study = study_to_show(arguments.listing.study);
  const BudgetSpec& unit = study.spec().budget;
  const PlanSummary runs = plan(study, arguments.horizon);
  const std::optional<Decision> decision = next_decision(study);
  if (format == Format::json) {
    print(render(plan_record(study, runs, decision), format));
    return kDone;
  }
  if (!runs.runs.empty() || format != Format::table) {
    print(render(plan_table(study, runs).head("cost", with_unit("cost", unit)), format));
  }
  const Prediction& final_best = runs.outlook.back().best;
  const std::string best =
      fmt::format("best {} is {} now", study.spec().metric.name, short_number(runs.outlook.front().best.mean));
  if (runs.runs.empty()) {
    const std::string nothing = fmt::format(
        "{} remaining; {}, and no affordable trial is expected to improve on it", short_cost(runs.budget, unit), best);
    if (format == Format::table) {
      print(nothing + "\n");
    } else {
      note(nothing);
    }
  } else {
    note(fmt::format(
        "{} remaining, {} planned", short_cost(runs.budget, unit), short_cost(runs.budget - runs.left, unit)));
    note(fmt::format("{}, {} expected after these trials (80 % interval {} to {})",
                     best,
                     short_number(final_best.mean),
                     short_number(final_best.low),
                     short_number(final_best.high)));
  }
  if (decision) {
    note(fmt::format("next, {} would {}", study.spec().policy.name, in_words(*decision, study)));
  }
  return kDone;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .summary = "Show what the planner would train next",
      .examples =
          "Examples:\n"
          "  bapi plan mlp\n"
          "  bapi plan mlp --horizon 8 -f json\n\n"
          "Lists the trials that together promise most within the remaining budget, each up to the epoch where its\n"
          "curve should be flat; * marks the one with the highest improvement per cost. low and high bound the 80 %\n"
          "interval. The study's policy may decide differently: a note says what it would do next.\n"
          "JSON: {budget, left, runs: [...], decision: {action, trial, until, rule, config}, final_best}; runs are "
          "the\n"
          "rows of the table, action is start, resume, stop, wait or finish.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<PlanArguments>();
        parsed->listing.declare(arguments);
        arguments.option(
            "--horizon", parsed->horizon, "Number of trials to plan, 1 to 16; default: the study's option");
        return [parsed] { return show_plan(*parsed); };
      }};
}

}  // namespace bapi
