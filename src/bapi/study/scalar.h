#pragma once

#include <string_view>

#include "bapi/space/space.h"

namespace bapi {

// The value of an unquoted word, by the rules of YAML 1.2: true and false, integers, numbers (1e-6 and .5 as well),
// else a string. Empty, `~` and `null` are std::monostate; an integer beyond 64 bits is a double.
Value parse_scalar(std::string_view text);

}  // namespace bapi
