#pragma once

#include <optional>

#include "bapi/policy/decision.h"
#include "bapi/report/table.h"
#include "bapi/studies/study_insight.h"

namespace bapi {

// What the planner would train next with what is left of the budget, and what it expects of it. `horizon` is the number
// of runs to look ahead; by default that of the study's policy. Throws InvalidInput.
PlanSummary plan(const StudyState& study, std::optional<int> horizon);

// What the study's policy decides as things stand, which need not be the first run of the plan; nothing once the study
// has ended.
std::optional<Decision> next_decision(const StudyState& study);

// {budget, left, runs: [{next, trial, from, until, cost, predicted: {mean, low, high}, improvement, config}], decision:
// {action, trial, until, rule, config}, final_best: {mean, low, high}}
Fields plan_record(const StudyState& study, const PlanSummary& plan, const std::optional<Decision>& decision);

}  // namespace bapi
