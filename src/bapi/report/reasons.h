#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bapi/report/table.h"
#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi {

// Reasons in words, for the program, the Python package and pages alike.

// What the rule of a reason says: "highest expected improvement per cost". Empty if it was not stated.
std::string rule_text(const Reason& why);

// One line, for lists: "promoted (bracket 0, rung 1)", "highest expected improvement per cost (0.931 ± 0.012 expected
// at epoch 27)".
std::string in_brief(const Reason& why);

// The same in several lengths, the longest first, for places of limited width: "highest expected improvement per cost
// (0.931 ± 0.012 expected at epoch 27); twice the runner-up (trial 15)" down to "0.931 ± 0.012". Numbers outlast words.
std::vector<std::string> brief_forms(const Reason& why);

enum class Detail {
  normal,
  everything,  // and what the score used, and what happened in the numerics
};

// Full sentences without the rule, in the order of importance. `trial` is the one that the decision is about.
std::vector<std::string> in_full(const Reason& why, TrialId trial, const StudySpec& spec, Detail detail);

// All fields by the names that they have in the log, nested; what was not stated is left out.
Fields record_of(const Reason& why);
Fields record_of(const TrialAssignment& assignment);

// The decisions of a study, or those about one trial: to train it, to stop it, or to end its training early.
// Text: one paragraph for each. Table: {seq, at, trial, decision, rule, because, reason, assignment}: the name of the
// rule, everything in words, and the last two as record_of() gives them.
std::string explanation_text(std::span<const StoredEvent> events,
                             const StudySpec& spec,
                             std::optional<TrialId> trial,
                             Detail detail);
Table explanation_table(std::span<const StoredEvent> events, const StudySpec& spec, std::optional<TrialId> trial);

}  // namespace bapi
