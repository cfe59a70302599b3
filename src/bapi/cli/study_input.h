#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bapi/cli/arguments.h"
#include "bapi/studies/study_opening.h"
#include "bapi/study/spec.h"

namespace bapi {

// What may be changed for a study that exists; every part overrides the study file.
void declare(StudyChanges& changes, Arguments& arguments);

// Everything that describes a study on the command line: a study file or the inline form, and overrides.
struct StudyInput {
  std::string file = {};
  std::vector<std::string> command = {};  // after "--"
  StudyChanges overrides = {};
  std::optional<std::string> name = {};
  std::optional<std::string> policy = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<int> epochs = {};
  std::optional<std::string> metric = {};
  bool minimize = false;
  std::optional<std::string> bounds = {};  // of the metric: "0,1", "0," if the upper end is open
  std::vector<std::string> from = {};      // earlier studies, in addition to those of the file

  void declare(Arguments& arguments);
};

inline constexpr const char* kKeepGoingHelp =
    "Record failed trials and continue even before the first epoch was reported";

// Where its program runs by default: the directory of the study file, or the current one.
std::filesystem::path home_of(const StudyInput& input);

// As it was given: whether its parts fit together is for those who use it to check. Throws InvalidInput.
StudySpec spec_of(const StudyInput& input);

}  // namespace bapi
