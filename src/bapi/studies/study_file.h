#pragma once

#include <string>

#include "bapi/study/spec_file.h"

namespace bapi {

// The study file at `path`; see parse_study_file. Throws InvalidInput, also if it cannot be read.
StudySpec read_study_file(const std::string& path, const std::optional<std::string>& name = std::nullopt);

}  // namespace bapi
