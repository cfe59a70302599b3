#pragma once

#include <cstdint>
#include <string>

#include "bapi/policy/insight.h"
#include "bapi/studies/study_view.h"

namespace bapi {

// The planner's view of a study. One that another policy runs is looked at with the settings of the default planner.
// Throws InvalidInput if no trial has reported a value yet.
Insight insight_of(const StudyState& study);

// "3h", "500 epochs": a total. "+1h": more than now. Throws InvalidInput on another unit than the study's.
Cost parse_total(const std::string& text, const StudyState& study);

const Trial& trial_of(const StudyState& study, std::int64_t number);  // InvalidInput if there is none

}  // namespace bapi
