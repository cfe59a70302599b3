#pragma once

#include <span>

#include "bapi/compare/anytime.h"
#include "bapi/compare/standings.h"
#include "bapi/report/table.h"

namespace bapi {

// The listings of a comparison: what runs.csv, ranks.csv and curves.csv hold, and what is printed at the end.

Table runs_table(std::span<const RunRecord> records);
Table ranks_table(std::span<const Ranking> rankings);
Table curves_table(std::span<const AnytimeCurve> curves);

// The best policy of each budget against the others.
Table duels_table(std::span<const Ranking> rankings);

// For people: ranks and regrets with their errors, and how the best compares with each.
std::string summary_text(std::span<const Ranking> rankings);

// Pieces of it that the report shows as well.
std::string with_error(const MeanAndError& value, int decimals);  // "0.123 ± 0.045"
std::string p_text(double p);                                     // "0.043", "<0.001"
std::string tests_text(const Ranking& ranking);                   // Friedman, Iman-Davenport, Nemenyi in one sentence

// Everything that the printed summary says, as one JSON object.
Cell summary_cell(std::span<const Ranking> rankings);

}  // namespace bapi
