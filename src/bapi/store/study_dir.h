#pragma once

#include <filesystem>

#include "bapi/base/units.h"

namespace bapi {

// Where one trial keeps its files: NAME.bapi/trials/0007/. What its programs save may be elsewhere: the workers of a
// study share it, and each has its own place for the rest.
struct TrialDir {
  std::filesystem::path root;
  std::filesystem::path saved = {};  // of checkpoints; empty: `root`

  std::filesystem::path log() const { return root / "log"; }                    // output of its processes
  std::filesystem::path report() const { return root / "report"; }              // BAPI_REPORT
  std::filesystem::path config() const { return root / "config.json"; }         // BAPI_CONFIG
  std::filesystem::path checkpoint() const { return models() / "checkpoint"; }  // BAPI_CHECKPOINT_DIR
  std::filesystem::path process() const { return root / "process"; }            // the process that trains it now
  std::filesystem::path ahead() const { return root / "ahead"; }                // reports that wait; process/ahead.h
  std::filesystem::path best() const { return models() / "best"; }  // snapshots of the checkpoint; snapshot.h
  const std::filesystem::path& models() const { return saved.empty() ? root : saved; }

  // Makes what is missing: the directory, checkpoint/, empty log and report. Throws StoreError, also if the directory
  // is another user's or something else stands in the place of a file.
  void create() const;
};

// Throws StoreError if the directory belongs to another user than this one and root: its owner could plant links to
// files of this user. Root may work everywhere.
void require_own_directory(const std::filesystem::path& directory);

// Layout of a study on disk: NAME.bapi/{study.db, lock, trials/}.
class StudyDir {
 public:
  // `root` is made absolute, so that training programs may change their directory.
  explicit StudyDir(const std::filesystem::path& root) : root_(std::filesystem::absolute(root).lexically_normal()) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path database() const { return root_ / "study.db"; }
  TrialDir trial(TrialId trial) const;

  // The same directory, but that checkpoints are in `other`.
  StudyDir with_checkpoints_in(const StudyDir& other) const;

  void create() const;  // throws StoreError, also if the directory is another user's

  // Throws InvalidInput if there is anything of trials: of a study whose log is gone, or is kept elsewhere. The
  // programs of a new one would continue from their checkpoints.
  void require_no_trials() const;

  // Throws StoreError.
  void remove_trials() const;

 private:
  std::filesystem::path trials() const { return root_ / "trials"; }

  std::filesystem::path root_;
  std::filesystem::path saved_ = {};  // of checkpoints; empty: `root_`
};

}  // namespace bapi
