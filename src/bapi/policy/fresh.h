#pragma once

#include <optional>
#include <vector>

#include "bapi/study/history.h"

namespace bapi {

// The next new configuration of the study's own random sequence: number k of it depends on the seed and k alone, where
// k is the number of trials so far, unless it has been tried, when others are drawn. All policies draw from the same
// sequence, so that comparisons are paired. From a pool: its rows in a random order without replacement. Nullopt when
// every row, or every configuration of a finite space, has been tried.
std::optional<Config> fresh_config(const History& history);

bool is_tried(const History& history, const Config& config);

// Whether a space has so few configurations that it is searched by listing them.
bool is_small(const Space& space);

// Every configuration of a space without a pool that has not been tried, if the space is small enough to be listed.
std::optional<std::vector<Config>> untried_in_small_space(const History& history);

// Which rows of the study's pool have a trial, by row; empty without a pool.
std::vector<bool> tried_rows(const History& history);

// What to answer when no new configuration is left.
inline constexpr const char* kPoolExhausted = "every configuration has been tried";

}  // namespace bapi
