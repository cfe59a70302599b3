#pragma once

#include <string_view>

namespace bapi {

// The contents of a file of src/bapi/compare/assets, as the build has found it. LogicError if there is none.
std::string_view compare_asset(std::string_view name);

}  // namespace bapi
