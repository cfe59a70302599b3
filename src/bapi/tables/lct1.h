#pragma once

#include <filesystem>
#include <string_view>

#include "bapi/tables/curve_table.h"

namespace bapi {

// A table of recorded learning curves in the LCT1 format: NAME.bin (little-endian numbers) with NAME.json beside it
// (names, bounds, scales, direction). `path` is either of the two. Without recorded time an epoch costs 1.
//
// Parameters are read as reals on their scale, with bounds wide enough for every row. Of rows with equal parameters
// only the first is kept, since a configuration has one curve. Throws InvalidInput naming the file and what is wrong
// with it.
CurveTable read_lct1(const std::filesystem::path& path);

// The same from the contents of NAME.json and NAME.bin; `path` is for messages.
CurveTable parse_lct1(std::string_view json, std::string_view data, const std::filesystem::path& path);

}  // namespace bapi
