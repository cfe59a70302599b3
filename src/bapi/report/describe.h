#pragma once

#include <optional>
#include <string>

#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi {

// The trial that an event is about; none for the study's own events.
std::optional<TrialId> trial_of(const Event& event);

// One line for people, without the trial: "start, to epoch 9 · uniform random draw", "epoch 3: accuracy 0.91, 1.2 s".
std::string describe(const Event& event, const StudySpec& spec);

}  // namespace bapi
