#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bapi {

// [STUDY] [TRIAL] in either order: a word of digits is a trial.
struct StudyAndTrial {
  std::string study;
  std::optional<std::int64_t> trial;
};
StudyAndTrial study_and_trial(std::vector<std::string> words);

}  // namespace bapi
