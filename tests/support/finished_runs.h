#pragma once

#include <vector>

#include "bapi/study/history.h"
#include "bapi/tables/curve_table.h"

namespace bapi::test {

// A history in which these rows of a table have been trained to the end.
inline History finished_runs(const CurveTable& table, const PolicySpec& policy, const std::vector<std::size_t>& rows) {
  History history(study_of(table, 1e6, policy, 1, 1));
  for (const std::size_t row : rows) {
    const TrialId id{std::ssize(history.trials())};
    history.apply(TrialStarted{.trial = id, .config = table.configs[row], .until = table.max_epoch});
    for (Epoch t = 1; t <= table.max_epoch; ++t) {
      const auto at = static_cast<std::size_t>(t) - 1;
      history.apply(Measured{id, {t, table.runs[row].value[at], table.runs[row].cost[at]}});
    }
    history.apply(SegmentDone{id});
  }
  return history;
}

}  // namespace bapi::test
