#pragma once

#include <string>
#include <vector>

#include "bapi/report/table.h"
#include "bapi/studies/study_insight.h"

namespace bapi {

// What another budget would bring: the planner, rolled forward on its model until the budget is used up, nothing more
// is to be gained, or it would take too long.
struct WhatIf {
  Cost spent = 0.0;       // so far
  Cost total = 0.0;       // that was asked for
  PlanSummary plan = {};  // all runs that were looked at

  // The best value to be expected after a number of further runs.
  struct Row {
    int runs = 0;
    Cost budget = 0.0;  // spent in total by then
    Prediction best = {};
  };
  std::vector<Row> rows = {};  // the first sixteen runs each, then eight for every doubling; the last one is at `total`

  std::string ending = {};  // what the last row rests on, for people
};

// `budget` is a total ("3h") or what is added to the present one ("+1h"). Throws InvalidInput if it is in another unit
// or spent already.
WhatIf what_if(const StudyState& study, const std::string& budget);

// The same for a total above what is spent, with models that were fitted to `study` already.
WhatIf what_if(const StudyState& study, const Insight& insight, Cost total);

Table what_if_table(const WhatIf& outlook);  // {runs, budget, best, low, high}
std::string plot_what_if(const StudyState& study, const WhatIf& outlook);

}  // namespace bapi
