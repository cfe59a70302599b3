#pragma once

#include <string>

#include "bapi/studies/study_view.h"

namespace bapi {

// What people want to know about a study, in a dozen lines: state, best value and configuration, how the budget was
// spent, trials by state, where things are.
std::string study_text(const StudyView& study);

// The command that continues a study with twice the budget.
std::string raise_hint(const StudyView& study);

// Instead of it where no budget would buy anything.
inline constexpr const char* kExhaustedHint =
    "every configuration of the space has been trained; to add values, start a new study with another --name";

}  // namespace bapi
