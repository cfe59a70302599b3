#pragma once

#include <string>
#include <vector>

#include "bapi/compare/comparison.h"
#include "bapi/study/spec.h"

namespace bapi {

// A policy by name with options "name=value"; numbers and on/off are recognised. Throws InvalidInput on a word without
// '='; whether the policy has such an option is for make_policy to say.
PolicySpec parse_policy(const std::string& name, const std::vector<std::string>& options);

// "bapi", "bapi:horizon=8:exact=off", "far=bapi:horizon=8": [LABEL=]NAME[:OPTION=VALUE]... Without a label, the text
// itself is the label.
ComparedPolicy parse_compared_policy(const std::string& text);

}  // namespace bapi
