#pragma once

#include <filesystem>
#include <string_view>

namespace bapi {

enum class NewFile { made, existed };

// Makes `file` with this content, whole or not at all, safe from a power cut when it returns. A file that is there
// already is left alone. The content is written beside it first; a crash may leave that draft, `file` + ".new." + the
// process number, which nobody reads. StoreError if the directory cannot be written.
NewFile make_file(const std::filesystem::path& file, std::string_view content);

}  // namespace bapi
