#include "bapi/store/study_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "bapi/base/error.h"
#include "bapi/base/file.h"

namespace bapi {

namespace {

void create_file(const std::filesystem::path& path) {
  if (!open_regular(path, O_WRONLY | O_CREAT | O_APPEND)) fail_at("write", path, errno);
}

}  // namespace

void require_own_directory(const std::filesystem::path& directory) {
  struct stat status = {};
  if (::stat(directory.c_str(), &status) != 0) return;  // who needs it will say so
  const uid_t user = ::geteuid();
  if (user == 0 || status.st_uid == user || status.st_uid == 0) return;
  throw StoreError(
      fmt::format("{}: the directory belongs to another user (uid {}), who could make bapi write to files of yours; "
                  "move it away or "
                  "choose another --name",
                  directory.string(),
                  status.st_uid));
}

void TrialDir::create() const {
  make_directories(root);
  make_directories(checkpoint());
  require_own_directory(root);
  require_own_directory(models());
  create_file(log());
  create_file(report());
}

TrialDir StudyDir::trial(TrialId trial) const {
  const std::filesystem::path below = std::filesystem::path("trials") / fmt::format("{:04}", index(trial));
  return {.root = root_ / below, .saved = saved_.empty() ? std::filesystem::path() : saved_ / below};
}

StudyDir StudyDir::with_checkpoints_in(const StudyDir& other) const {
  StudyDir dir = *this;
  dir.saved_ = other.root_;
  return dir;
}

void StudyDir::create() const {
  require_own_directory(root_);
  make_directories(trials());
  require_own_directory(trials());
}

void StudyDir::require_no_trials() const {
  std::error_code error;
  const std::filesystem::directory_iterator first(trials(), error);
  if (error || first == std::filesystem::directory_iterator()) return;
  throw InvalidInput(
      fmt::format("{} holds trials of another study, whose log is not there; programs of a new study would continue "
                  "from their checkpoints. Remove or rename {}, or choose another --name or --dir",
                  trials().string(),
                  root_.string()));
}

void StudyDir::remove_trials() const {
  std::error_code error;
  std::filesystem::remove_all(trials(), error);
  if (!error || error == std::errc::not_a_directory) return;  // there can be none
  throw StoreError(fmt::format("{}: cannot be removed: {}", trials().string(), error.message()));
}

}  // namespace bapi
