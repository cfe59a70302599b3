#pragma once

#include "bapi/study/yaml_fields.h"

namespace bapi {

// The parameters of a study file or of a recorded table: a mapping from names to bounds, values or a constant, in the
// words of W&B sweeps. Throws InvalidInput with the place.
Space read_parameters(const YamlField& field);

// One of them; its conditions name parameters that this reader does not see.
Param read_parameter(const std::string& name, const YamlField& field);

// One value of a parameter or option: a finite number, true, false or text.
Value read_yaml_value(const YamlField& field);

}  // namespace bapi
