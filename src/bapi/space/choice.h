#pragma once

#include <vector>

#include "bapi/space/space.h"

namespace bapi {

// One of `options`; numbers in increasing order are neighbours of each other.
Choice choice_of(std::vector<Value> options);

}  // namespace bapi
