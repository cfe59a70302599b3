#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bapi {

// The rules for names and texts of a study. Each gives what is wrong, for a message, or nullopt if all is well.

// A study's name becomes a directory.
std::optional<std::string> study_name_mistake(std::string_view name);

// The name of a parameter becomes a macro, a flag, a JSON key and a column.
std::optional<std::string> param_name_mistake(std::string_view name);

// The name of a metric is a key of every report, beside `epoch`, `cost` and `ready`.
std::optional<std::string> metric_name_mistake(std::string_view name);

// An environment variable for the training program; those that begin with BAPI_ are bapi's own.
std::optional<std::string> variable_name_mistake(std::string_view name);

// A GPU is named by its number, or by its UUID (GPU-8f2c41d0-...).
std::optional<std::string> gpu_name_mistake(std::string_view name);

// Values, arguments and the contents of variables may hold line breaks and tabs, but no other control character: the
// training program would be given the text up to a NUL, and terminals obey the others.
std::optional<std::string> text_mistake(std::string_view text);

}  // namespace bapi
