#pragma once

#include <optional>

#include "bapi/study/spec.h"
#include "bapi/tables/curve_table.h"
#include "bapi/tables/table_budget.h"

namespace bapi {

// What a study learns from recorded curves that it starts from: at most a hundred trials, the thirty best and others
// evenly by rank, with the epochs that the study has itself. Epochs count as epochs, whatever the lengths of full
// trainings are. Throws InvalidInput if the table has no parameter of the study, no finite value, or no configuration
// that the study allows.
EarlierStudy earlier_study(const CurveTable& table, const StudySpec& study);

// Where simulated warm starts come from: the trials of a study, or a table on which the earlier study is simulated.
struct EarlierTable {
  CurveTable table;
  std::optional<TableBudget> budget = {};  // what the earlier study could spend on the table; none: it is a study
};

// The trials of the earlier study: those of `source`, or those of the policy bapi on it with this seed.
CurveTable earlier_trials(const EarlierTable& source, std::uint64_t seed);
std::vector<CurveTable> earlier_trials(const std::vector<EarlierTable>& sources, std::uint64_t seed);

}  // namespace bapi
