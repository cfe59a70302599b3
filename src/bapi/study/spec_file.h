#pragma once

#include <string>
#include <string_view>

#include "bapi/study/inline_command.h"
#include "bapi/study/quantity.h"
#include "bapi/study/spec.h"

namespace bapi {

// The study file: YAML text to StudySpec. `file` is its name for messages; the study is called after it unless the text
// has a name. Throws InvalidInput with file:line:column, what was found and what was expected; an unknown key is an
// error that names the nearest known one. The result has passed StudySpec::validate().
StudySpec parse_study_file(std::string_view text, const std::string& file);
StudySpec read_study_file(const std::string& path);

}  // namespace bapi
