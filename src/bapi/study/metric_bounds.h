#pragma once

#include <limits>
#include <string>
#include <vector>

#include "bapi/study/spec.h"

namespace bapi {

// Between which values a metric can be, as far as its name and the values seen tell.
struct MetricBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool known() const { return low > -std::numeric_limits<double>::infinity(); }
  bool operator==(const MetricBounds&) const = default;
};

// Accuracies and the like are shares, 0 to 1, or percentages, 0 to 100, if a value is above 1. Error rates are shares
// that may exceed 1 or not, so they, losses and squared errors are only known not to be below 0; a perplexity is not
// below 1. A name that says nothing, and values that contradict their name, leave both ends open.
MetricBounds assumed_bounds(const std::string& metric, const std::vector<double>& values);

// Which way the name suggests; nothing if it says nothing.
std::optional<Goal> usual_goal(const std::string& metric);

}  // namespace bapi
