#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bapi {

// What keeps a command from being run as a script: Windows line endings. The kernel then looks for an interpreter whose
// name ends with a carriage return, and a shell stumbles over every line, with messages that do not show why. `program`
// is the file of the first argument; `directory` is where the command runs, empty for that of this process. Nothing if
// there is no such mistake or the file cannot be read.
std::optional<std::string> script_mistake(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          const std::filesystem::path& directory = {});

}  // namespace bapi
