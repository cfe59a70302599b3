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

// What the header of a recorded table says, in the words of a study file: `metric`, `parameters` and, optionally,
// `name`.
struct SpaceAndMetric {
  std::string name;
  Space space;
  Metric metric;
};
SpaceAndMetric parse_space_and_metric(std::string_view text, const std::string& file);

}  // namespace bapi
