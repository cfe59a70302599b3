#pragma once

#include <string>

#include "bapi/compare/standings.h"
#include "bapi/report/svg.h"

namespace bapi {

// Where a diagram stands: in a page, which gives it letters and background, or in a file of its own.
enum class Surroundings { page, none };

// The critical-difference diagram of a ranking as SVG: average ranks on a line, best left, with bars that join policies
// which cannot be told apart, by Nemenyi's critical difference and by signed-rank tests with Holm's correction. Needs
// two policies at least.
std::string critical_difference_diagram(const Ranking& ranking, const FigureStyle& style, Surroundings surroundings);

}  // namespace bapi
