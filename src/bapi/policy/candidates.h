#pragma once

#include <optional>
#include <vector>

#include "bapi/math/types.h"
#include "bapi/policy/decision.h"
#include "bapi/policy/evidence.h"
#include "bapi/study/history.h"

namespace bapi {

// A configuration that could be trained next: a paused trial, or a new one.
struct Candidate {
  Config config;
  Vector x;                           // encoded
  std::optional<TrialId> trial = {};  // of a paused trial
  Epoch done = 0;                     // epochs it has been trained
  CurveId group = 0;                  // the trial's; one of its own for a new configuration

  CurveAt at() const { return {.x = x, .group = group, .done = done}; }
};

// Paused trials that can be resumed.
std::vector<Candidate> paused_candidates(const Evidence& evidence);

// Every row of the study's pool that has not been tried.
std::vector<Candidate> untried_rows(const History& history);

// Whether every configuration can be listed: there is a pool, or the space is finite and small.
bool can_be_listed(const StudySpec& spec);

// Every configuration that has not been tried, where they can be listed.
std::optional<std::vector<Candidate>> untried_list(const History& history);

// A new configuration. `offset` tells new candidates of one decision apart.
Candidate new_candidate(const History& history, Config config, int offset);

// Trains the candidate to `until`: Resume for a paused trial, Start for a new one.
Decision train(const Candidate& chosen, Epoch until, Cost expected, Reason why);

Matrix stacked(const std::vector<Candidate>& candidates);  // one row of x each

// Logarithms of the factors by which failures lower the scores of the candidates, see FailureModel; 0 while nothing has
// failed.
Vector log_success(const Evidence& evidence, const std::vector<Candidate>& candidates);

// What of it belongs into the log: nothing while nothing has failed.
std::vector<Note> notes_of_failures(const Evidence& evidence, const Candidate& chosen);

}  // namespace bapi
