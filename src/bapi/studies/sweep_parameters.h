#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bapi/study/yaml_fields.h"

namespace bapi {

// A parameter of a sweep of W&B in the words of a study file: "{min: 0.1, max: 1}".
struct SweepParameter {
  std::string name;
  std::string domain;
};

// The parameters of a sweep in the order of the text; those of nested ones have a dot in their name. What bapi says in
// another way is translated, and `notes` gets what becomes of it. Throws InvalidInput with the place of every mistake.
std::vector<SweepParameter> sweep_parameters(const YamlField& field, std::vector<std::string>& notes);

// A word as it may stand in a list of YAML, quoted if it would be read as something else.
std::string yaml_word(std::string_view word);

}  // namespace bapi
