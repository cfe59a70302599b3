#pragma once

#include <filesystem>
#include <string>

namespace bapi {

// The last `lines` lines of a text file, each with its newline, of at most its last megabyte; empty if it cannot be
// read. Escape sequences are shown, not obeyed.
std::string log_tail(const std::filesystem::path& file, int lines);

}  // namespace bapi
