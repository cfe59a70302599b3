#include "bapi/run/study_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "bapi/base/error.h"
#include "bapi/run/file_descriptor.h"

namespace bapi {
void TrialDir::create() const {
  make_directories(checkpoint());
  open_file(log(), O_WRONLY | O_CREAT | O_APPEND);
  open_file(report(), O_WRONLY | O_CREAT | O_APPEND);
}

TrialDir StudyDir::trial(TrialId trial) const { return {root_ / "trials" / fmt::format("{:04}", index(trial))}; }

void StudyDir::create() const { make_directories(root_ / "trials"); }

std::optional<std::string> read_whole_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string contents_of(const std::filesystem::path& file) {
  std::optional<std::string> text = read_whole_file(file);
  require(text.has_value(), fmt::format("{}: cannot be read", file.string()));
  return *std::move(text);
}

void replace_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::path beside = file;
  beside += ".new";
  write_all(open_file(beside, O_WRONLY | O_CREAT | O_TRUNC), text, beside);
  if (::rename(beside.c_str(), file.c_str()) != 0) fail_at("replace", file, errno);
}

}  // namespace bapi
