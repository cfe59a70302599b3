#include "bapi/studies/plan.h"

#include <fmt/format.h>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/policy/registry.h"

namespace bapi {
namespace {

Fields prediction_fields(const Prediction& p) { return {{"mean", p.mean}, {"low", p.low}, {"high", p.high}}; }

Cell decision_cell(const std::optional<Decision>& decision, const StudyState& study) {
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

}  // namespace

PlanSummary plan(const StudyState& study, std::optional<int> horizon) {
  require(!horizon || (*horizon >= 1 && *horizon <= kLongestHorizon),
          fmt::format("--horizon {}: expected an integer from 1 to {}", horizon.value_or(0), kLongestHorizon));
  const Insight insight = insight_of(study);
  return insight.plan(study.history.budget().remaining(), horizon.value_or(insight.options().plan.horizon));
}

std::optional<Decision> next_decision(const StudyState& study) {
  const History& history = study.history;
  if (history.finished() || history.budget().exhausted()) return std::nullopt;
  Rng rng = decision_stream(history);
  return make_policy(study.spec().policy)->ask(history, rng);
}

Fields plan_record(const StudyState& study, const PlanSummary& plan, const std::optional<Decision>& decision) {
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
          {"decision", decision_cell(decision, study)},
          {"final_best", prediction_fields(plan.outlook.back().best)}};
}

}  // namespace bapi
