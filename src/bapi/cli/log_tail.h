#pragma once

#include <filesystem>
#include <string>

namespace bapi {

// The last `lines` lines of a text file, each with its newline, of at most its last megabyte; empty if there is none.
// Escape sequences are shown, not obeyed. What is no regular file is not waited for or followed: the text says what it
// is.
std::string log_tail(const std::filesystem::path& file, int lines);

}  // namespace bapi
