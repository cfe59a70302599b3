#pragma once

#include <optional>
#include <string>

#include "bapi/cli/listing.h"

namespace bapi {

// A line of what `bapi doctor` found.
inline std::string check_line(std::string_view label, std::string_view text) { return labelled(label, text, 14); }

inline void warn(const std::string& text) { print(check_line("warning", text)); }

// Whether `text` means a study that exists rather than a study file.
bool names_study(const std::string& text);

// Says whether the log of a study can be read to its end, and writes a repaired copy if one is wanted. Returns the
// exit code: kStoreUnavailable for damage that stays.
int check_study(const std::string& text, const std::optional<std::string>& copy);

}  // namespace bapi
