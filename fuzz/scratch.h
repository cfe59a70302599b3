#pragma once

#include <filesystem>

namespace bapi::fuzz {

// A directory for the life of the program, for readers of files.
const std::filesystem::path& scratch();

}  // namespace bapi::fuzz
