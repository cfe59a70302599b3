#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bapi {

// The course of `values` in at most `width` block characters, ▁ for the least and █ for the greatest; a constant course
// is drawn at half height. Longer courses are thinned: each character shows the last value of its stretch, so the right
// end is always the newest. Values that are not finite are blanks.
std::string sparkline(std::span<const double> values, std::size_t width);

}  // namespace bapi
