#pragma once

#include <string>
#include <vector>

#include "bapi/study/spec.h"

namespace bapi {

// The bounds of a metric for which none were given, as far as its name and the values seen tell. Accuracies and the
// like are shares, 0 to 1, or percentages, 0 to 100, if the name says so or a value is above 1. Error rates are shares
// that may exceed 1 or not, so they, losses and squared errors are only known not to be below 0; a perplexity is not
// below 1. A name that says nothing, and values that contradict their name, leave both ends open.
MetricBounds assumed_bounds(const std::string& metric, const std::vector<double>& values);

// Those that were given, else those that are assumed.
MetricBounds bounds_of(const Metric& metric, const std::vector<double>& values);

// "0,1"; an end that is left out is open: "0,". Throws InvalidInput that begins with `where`.
MetricBounds parse_bounds(const std::string& text, const std::string& where);

// Which way the name suggests; nothing if it says nothing.
std::optional<Goal> usual_goal(const std::string& metric);

}  // namespace bapi
