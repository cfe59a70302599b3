#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bapi/study/spec.h"

namespace bapi {

// This machine, and the commit that is checked out where the training program runs, and whether files differ from it;
// nothing for what cannot be found out.
Provenance provenance_of(const std::string& version, const std::filesystem::path& directory);

// The commit that is checked out in the Git repository around `directory`, 40 hexadecimal digits (64 for SHA-256);
// empty without a repository or a commit.
std::string git_commit(std::filesystem::path directory);

// Whether files that Git tracks around `directory` differ from that commit; asks git. nullopt if it does not know, or
// does not say so within two seconds.
std::optional<bool> git_is_dirty(const std::filesystem::path& directory);

}  // namespace bapi
