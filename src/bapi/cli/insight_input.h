#pragma once

#include <filesystem>
#include <string>

#include "bapi/policy/insight.h"
#include "bapi/studies/study_view.h"

namespace bapi {

// The planner's view of a study. One that another policy runs is looked at with the settings of the default planner.
Insight insight_of(const StudyView& study);

// "3h", "500 epochs": a total. "+1h": more than now. Throws InvalidInput on another unit than the study's.
Cost parse_total(const std::string& text, const StudyView& study);

// [STUDY] [TRIAL] in either order: a word of digits is a trial.
struct StudyAndTrial {
  std::string study;
  std::optional<std::int64_t> trial;
};
StudyAndTrial study_and_trial(std::vector<std::string> words);
const Trial& trial_of(const StudyView& study, std::int64_t number);  // InvalidInput if there is none

// Writes the picture and returns its path as the user would type it. Throws StoreError.
std::string write_picture(const StudyView& study,
                          const std::string& out,
                          const std::string& name,
                          const std::string& svg);

}  // namespace bapi
