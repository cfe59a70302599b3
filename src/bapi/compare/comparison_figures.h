#pragma once

#include <span>
#include <string>
#include <vector>

#include "bapi/compare/anytime.h"
#include "bapi/compare/standings.h"
#include "bapi/report/svg.h"

namespace bapi {

// How a policy is drawn in all figures of a comparison.
struct PolicyStroke {
  std::string policy;
  Stroke stroke;
};

// In the order of the legend: by their rank at the first budget, the best first and thickest.
std::vector<PolicyStroke> policy_strokes(std::span<const Ranking> rankings);

// Normalised regret over the share of the budget, one line with its band per curve.
std::string anytime_figure(std::span<const AnytimeCurve* const> curves,
                           std::span<const PolicyStroke> strokes,
                           const FigureStyle& style);

// The figures over all tables at one budget and number of workers, each a file of its own.
struct ComparisonFigures {
  std::string ranks = {};    // the critical-difference diagram; empty with one policy
  std::string anytime = {};  // with its legend below
};

// In the order of `rankings`.
std::vector<ComparisonFigures> comparison_figures(std::span<const Ranking> rankings,
                                                  std::span<const AnytimeCurve> curves);

}  // namespace bapi
