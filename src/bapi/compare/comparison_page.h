#pragma once

#include <span>
#include <string>

#include "bapi/compare/anytime.h"
#include "bapi/compare/standings.h"

namespace bapi {

// A comparison as one HTML page that needs nothing else: rank tables, critical-difference diagrams, anytime curves over
// all tables and for each, calibration of the policies that forecast, time per decision. Reads on a phone, in the dark
// and on paper; its one script unfolds everything for the printer, and nothing else depends on it.
std::string comparison_page(const Comparison& comparison,
                            std::span<const Ranking> rankings,
                            std::span<const AnytimeCurve> curves);

}  // namespace bapi
