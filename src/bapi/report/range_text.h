#pragma once

#include <string>
#include <vector>

#include "bapi/space/space.h"

namespace bapi {

// "1e-05 to 1, log scale", "16 to 256, whole numbers", "one of sgd adam", "always 3".
std::string domain_text(const Domain& domain);

// A parameter with its conditions: "0 to 0.9, if optimizer is sgd".
std::string domain_text(const Param& param);

// One sentence for every parameter of the configuration that lies at an end of its range, where better values may lie
// beyond: within 1 % of the range on its scale, or the first or last of at least four whole numbers or ordered options.
std::vector<std::string> at_the_ends(const Space& space, const Config& config);

}  // namespace bapi
