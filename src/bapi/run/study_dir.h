#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "bapi/base/units.h"

namespace bapi {

// Where one trial keeps its files: NAME.bapi/trials/0007/.
struct TrialDir {
  std::filesystem::path root;

  std::filesystem::path log() const { return root / "log"; }                // output of its processes
  std::filesystem::path report() const { return root / "report"; }          // BAPI_REPORT
  std::filesystem::path config() const { return root / "config.json"; }     // BAPI_CONFIG
  std::filesystem::path checkpoint() const { return root / "checkpoint"; }  // BAPI_CHECKPOINT_DIR
  std::filesystem::path process() const { return root / "process"; }        // the process that trains it now

  // Makes what is missing: the directory, checkpoint/, empty log and report. Throws StoreError.
  void create() const;
};

// Layout of a study on disk: NAME.bapi/{study.db, lock, trials/}.
class StudyDir {
 public:
  // `root` is made absolute, so that training programs may change their directory.
  explicit StudyDir(const std::filesystem::path& root) : root_(std::filesystem::absolute(root).lexically_normal()) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path database() const { return root_ / "study.db"; }
  TrialDir trial(TrialId trial) const;

  void create() const;  // throws StoreError

 private:
  std::filesystem::path root_;
};

// The whole file, or nullopt if it cannot be read.
std::optional<std::string> read_whole_file(const std::filesystem::path& file);

// The whole of a file that the user has named; InvalidInput if it cannot be read.
std::string contents_of(const std::filesystem::path& file);

// All or nothing for readers and for a crash of this process: written beside, then renamed. Throws StoreError.
void replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace bapi
