#include "bapi/studies/study_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "bapi/base/error.h"
#include "bapi/base/file.h"

namespace bapi {

StudySpec read_study_file(const std::string& path, const std::optional<std::string>& name) {
  return parse_study_file(contents_of(path), path, name);
}

void OwnPrograms::replace_in(StudySpec& spec) const {
  spec.command = command;
  spec.env = env;
  spec.cwd = cwd;
  spec.hooks = hooks;
}

OwnPrograms own_programs(const std::string& path) {
  const StudySpec spec = read_study_file(path);
  require(!spec.command.empty(), fmt::format("{}: found no command, expected the program that trains", path));
  const std::string home = std::filesystem::absolute(path).lexically_normal().parent_path().string();
  return {.command = spec.command, .env = spec.env, .cwd = spec.cwd.empty() ? home : spec.cwd, .hooks = spec.hooks};
}

}  // namespace bapi
