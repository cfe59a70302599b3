#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/insight_input.h"
#include "bapi/cli/listing.h"
#include "bapi/policy/registry.h"
#include "bapi/report/reasons.h"
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

// What the study's policy decides as things stand; nothing once the study has ended.
std::optional<Decision> next_decision(const StudyView& study) {
  const History& history = study.history;
  if (history.finished() || history.budget().exhausted()) return std::nullopt;
  Rng rng = decision_stream(history);
  return make_policy(study.spec().policy)->ask(history, rng);
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
              return fmt::format("train trial {} on to epoch {}{}", index(d.trial), d.until, because(d.why));
            },
            [&](const Stop& d) { return fmt::format("stop trial {} for good{}", index(d.trial), because(d.why)); },
            [](const Wait&) { return std::string("wait for what is running"); },
            [](const Finish& d) { return fmt::format("finish: {}", d.reason); }},
      decision);
}

Cell decision_cell(const std::optional<Decision>& decision, const StudyView& study) {
  if (!decision) return {};
  return std::visit(
      Match{[&](const Start& d) {
              return Cell(Fields{{"action", "start"},
                                 {"trial", Cell()},
                                 {"until", d.until},
                                 {"rule", word(d.why.rule)},
                                 {"config", fields_of(d.config, study.spec().space)}});
            },
            [&](const Resume& d) {
              return Cell(Fields{{"action", "resume"},
                                 {"trial", index(d.trial)},
                                 {"until", d.until},
                                 {"rule", word(d.why.rule)},
                                 {"config", fields_of(study.history.trial(d.trial).config, study.spec().space)}});
            },
            [&](const Stop& d) {
              return Cell(Fields{{"action", "stop"}, {"trial", index(d.trial)}, {"rule", word(d.why.rule)}});
            },
            [](const Wait&) {
              return Cell(Fields{{"action", "wait"}});
            },
            [](const Finish& d) {
              return Cell(Fields{{"action", "finish"}, {"reason", d.reason}});
            }},
      *decision);
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
          {"decision", decision_cell(next_decision(study), study)},
          {"final_best", prediction_fields(plan.outlook.back().best)}};
}

int show_plan(const PlanArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  if (arguments.horizon) {
    require(*arguments.horizon >= 1 && *arguments.horizon <= kLongestHorizon,
            fmt::format("--horizon {}: expected an integer from 1 to {}", *arguments.horizon, kLongestHorizon));
  }
  const StudyView study = study_to_show(arguments.listing.study);
  const BudgetSpec& unit = study.spec().budget;
  const Insight insight = insight_of(study);
  const int horizon = arguments.horizon.value_or(insight.options().plan.horizon);
  const PlanSummary plan = insight.plan(study.history.budget().remaining(), horizon);
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
  if (const std::optional<Decision> decision = next_decision(study)) {
    note(fmt::format("next, {} would {}", study.spec().policy.name, in_words(*decision, study)));
  }
  return kDone;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .summary = "What the planner would run next, and what it expects of it",
      .examples =
          "Examples:\n"
          "  bapi plan mlp\n"
          "  bapi plan mlp --horizon 8 -f json\n\n"
          "The runs that together promise most within the remaining budget, each up to the epoch where its curve\n"
          "is expected to flatten out; * is the one with the best improvement per cost at that epoch. Costs are in\n"
          "the budget's unit, predictions with their 80 % band. What the study's policy would do next, which need\n"
          "not be that run, is told below the table and is `decision` in JSON: {action: start, resume, stop, wait\n"
          "or finish, trial, until, rule, config}.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<PlanArguments>();
        parsed->listing.declare(arguments);
        arguments.option("--horizon", parsed->horizon, "Runs to look ahead, 1 to 16; default: the study's option");
        return [parsed] { return show_plan(*parsed); };
      }};
}

}  // namespace bapi
