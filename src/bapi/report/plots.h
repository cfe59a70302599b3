#pragma once

#include <span>
#include <string>

#include "bapi/study/event.h"
#include "bapi/study/history.h"

namespace bapi {

// The three pictures of a study, as SVG text. The colours are those of Okabe and Ito, which people with any kind of
// colour vision can tell apart. All of them also work without data, with one trial and with hundreds.

// The learning curve of every trial, the incumbent's in front. The axis follows the bulk of the values: a diverged
// trial is cut at the frame, and the subtitle says how many values are outside.
std::string plot_curves(const History& history);

// Best value so far over the budget spent, with every report behind it.
std::string plot_incumbent(const History& history, std::span<const StoredEvent> events);

// What each trial has cost, by kind.
std::string plot_budget(const History& history, std::span<const StoredEvent> events);

}  // namespace bapi
