#include "bapi/studies/study_insight.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/study/quantity.h"

namespace bapi {

Insight insight_of(const StudyState& study) {
  const std::vector<std::string> presets = bapi_presets();
  const PolicySpec& policy = study.spec().policy;
  const bool planner = std::find(presets.begin(), presets.end(), policy.name) != presets.end();
  return Insight(study.history, bapi_options(planner ? policy : PolicySpec{.name = "bapi"}));
}

Cost parse_total(const std::string& text, const StudyState& study) {
  const bool more = text.starts_with("+");
  const BudgetSpec& own = study.spec().budget;
  BudgetSpec given = parse_budget(more ? text.substr(1) : text, "--budget");
  const bool time_for_money = given.unit == "s" && own.meter == Meter::accrued;
  require(given.unit == own.unit || time_for_money,
          fmt::format("--budget {}: the study's budget is in {}", text, own.unit));
  const Cost cost = given.unit == own.unit ? given.limit : own.of_seconds(given.limit);
  return more ? study.history.budget().total() + cost : cost;
}

const Trial& trial_of(const StudyState& study, std::int64_t number) {
  require(
      number >= 0 && number < std::ssize(study.history.trials()),
      fmt::format(
          "there is no trial {}; the study has {} (bapi trials lists them)", number, study.history.trials().size()));
  return study.history.trial(TrialId{number});
}

}  // namespace bapi
