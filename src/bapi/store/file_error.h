#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "bapi/base/error.h"

namespace bapi {

// Says which file could not be handled and, by `errno`, why.
[[noreturn]] inline void throw_file_error(const std::filesystem::path& file, std::string_view doing) {
  throw StoreError(fmt::format("{}: {}: {}", file.string(), doing, std::strerror(errno)));
}

}  // namespace bapi
