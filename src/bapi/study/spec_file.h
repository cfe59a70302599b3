#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/study/inline_command.h"
#include "bapi/study/quantity.h"
#include "bapi/study/spec.h"

namespace bapi {

// The study file: YAML text to StudySpec. `file` is its name for messages; the study is called after it unless the text
// has a name. Throws InvalidInput with file:line:column, what was found and what was expected; an unknown key is an
// error that names the nearest known one. All mistakes are told at once, one per line. `name`, if given, takes the
// place of the study's. The result has passed StudySpec::validate().
StudySpec parse_study_file(std::string_view text,
                           const std::string& file,
                           const std::optional<std::string>& name = std::nullopt);

// Fields of a study that tunes a function instead of a training program: YAML (JSON is YAML) with some of these keys,
// whose values are written as in a study file. Messages name the field and have no place.
std::vector<std::string> function_study_keys();
void read_function_study(std::string_view text, StudySpec& spec);

// What the header of a recorded table says, in the words of a study file: `metric`, `parameters` and, optionally,
// `name`.
struct SpaceAndMetric {
  std::string name;
  Space space;
  Metric metric;
};
SpaceAndMetric parse_space_and_metric(std::string_view text, const std::string& file);

}  // namespace bapi
