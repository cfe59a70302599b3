#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/report/svg.h"
#include "bapi/study/event.h"
#include "bapi/study/history.h"

namespace bapi {

// The pictures of a study, as SVG text. The colours are those of Okabe and Ito, which people with any kind of
// colour vision can tell apart. All of them also work without data, with one trial and with hundreds.

// All of them by name: "curves", "incumbent", "budget", those of space_plots.h, "slices", "parallel", "cost" and
// "importance", and "metrics.NAME" for every other metric of the reports.
std::vector<std::string> picture_names(const History& history);
std::string picture(std::string_view name, const History& history, std::span<const StoredEvent> events);

// The learning curve of every trial, the incumbent's in front. The axis follows the bulk of the values: a diverged
// trial is cut at the frame, and the subtitle says how many values are outside.
std::string plot_curves(const History& history);

// The same for another metric of the reports. Nothing is known of which of its values are good.
std::string plot_metric(const History& history, const std::string& metric);

// The axes of the learning curves of a study, for other pictures that are to be compared with them.
struct CurveAxes {
  Axis x;
  Axis y;
};
CurveAxes curve_axes(const History& history);

// Best value so far over the budget spent, with every report behind it.
std::string plot_incumbent(const History& history, std::span<const StoredEvent> events);

// What each trial has cost, by kind.
std::string plot_budget(const History& history, std::span<const StoredEvent> events);

}  // namespace bapi
