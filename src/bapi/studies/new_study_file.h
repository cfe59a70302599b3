#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bapi {

// Texts of new study files, commented for people who will edit them.

// The one that `bapi init` writes without anything to go by.
std::string study_file_template();

// For a training program: its command, with ${args} at the end unless it has macros already, and a name after it.
std::string study_file_for(const std::vector<std::string>& command);

// What a sweep of W&B says, as a study file: program or command, metric, parameters, method and the iterations of
// `early_terminate`. `notes` gets what a study file has no place for. Throws InvalidInput with the place in `file`.
std::string study_file_of_sweep(std::string_view text, const std::string& file, std::vector<std::string>& notes);

}  // namespace bapi
