#pragma once

#include <string>

namespace bapi {

// The name of this machine; "unknown" if it has none.
std::string host_name();

}  // namespace bapi
