#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bapi/study/spec_file.h"

namespace bapi {

// The study file at `path`; see parse_study_file. Throws InvalidInput, also if it cannot be read.
StudySpec read_study_file(const std::string& path, const std::optional<std::string>& name = std::nullopt);

// All that a study has a machine run: the training program, its variables, where it runs, and hooks. For machines that
// run what a file of their own says, whatever the study says.
struct OwnPrograms {
  std::vector<std::string> command = {};
  std::map<std::string, std::string> env = {};
  std::string cwd = {};
  Hooks hooks = {};

  void replace_in(StudySpec& spec) const;
};

// Those of the study file at `path`. Throws InvalidInput, also if it names no training program.
OwnPrograms own_programs(const std::string& path);

}  // namespace bapi
