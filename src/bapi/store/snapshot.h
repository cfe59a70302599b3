#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/file_tree.h"
#include "bapi/base/units.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/spec.h"

// Copies of a trial's checkpoint directory, taken when its best epoch is reported:
//
//   trials/0007/best/epoch-24/checkpoint/   the files, as the program would find them
//   trials/0007/best/epoch-24/about         which epoch they are of
//
// One is written under another name and renamed when it is complete; then the earlier ones are removed. So whoever is
// killed at whatever instant leaves a complete one, and its name and `about` say of which epoch. The kernel writes it
// to the disk in its own time unless it is `synced`: after a power cut one that was not may be torn, which its sizes
// tell, and the newest one that was synced is kept until a newer one is.
namespace bapi {

struct SnapshotLabel {
  Epoch epoch = 0;          // that had been reported last when the files were saved
  double value = 0.0;       // of this epoch as it counts (smoothed), in the user's direction
  std::string remark = {};  // what its user must know besides; one line
  bool operator==(const SnapshotLabel&) const = default;
};

struct Snapshot {
  std::filesystem::path files;  // the copy of the checkpoint directory
  SnapshotLabel label;
  std::int64_t bytes = 0;
  bool synced = false;
};

// The one with the highest epoch that is complete.
std::optional<Snapshot> newest_snapshot(const TrialDir& dir);

// Whether the model of a report takes the place of the one that is kept: it is better, or later where trials count by
// their last epoch. Anything is better than none. `value` is what the report counts, smoothed where the study does so.
bool improves(const std::optional<Snapshot>& kept, double value, const Metric& metric);

enum class Sync { no, yes };

struct SnapshotRequest {
  TrialDir dir;
  SnapshotLabel label;
  // Seconds since the Unix epoch: files that were written to later are not the model of that epoch.
  double written_by = std::numeric_limits<double>::infinity();
  Sync sync = Sync::no;
  const std::atomic<bool>* cancel = nullptr;
  std::function<void()> copied = {};  // called as soon as the program may write to its files again
};

struct SnapshotResult {
  std::optional<Snapshot> taken = {};
  std::string failure = {};  // why there is none; earlier snapshots are as they were
};

// How often a snapshot is synced while a trial trains fast.
inline constexpr double kSyncEvery = 1.0;  // seconds

// Copies the checkpoint directory, compares it with what it was before, and copies again if it has changed, a few
// times. Never throws for what files and disks do: a model that cannot be kept is no fault of its trial.
SnapshotResult take_snapshot(const SnapshotRequest& request);

// Writes the newest snapshot to the disk and removes the others.
void settle_snapshots(const TrialDir& dir);

// Why the model of an epoch was not kept, for those who look for it later; the last one that was noted.
struct MissedSnapshot {
  Epoch epoch = 0;
  std::string reason = {};
};
inline constexpr const char* kSavedAgain = "the program saved again before its files could be copied";
inline constexpr const char* kNotSaved = "the program saved nothing between this report and the one before";
void note_missed(const TrialDir& dir, const MissedSnapshot& missed);
std::optional<MissedSnapshot> missed_snapshot(const TrialDir& dir);

// Puts the files of a snapshot into the place of the checkpoint directory; what was there is removed, and the epoch
// written down. A text says what failed: then the checkpoint directory is as it was.
std::string restore_snapshot(const TrialDir& dir, const Snapshot& snapshot);

// Copies that a killed process has left half-done.
std::vector<std::filesystem::path> unfinished_copies(const TrialDir& dir);

// The checkpoint directory of a trial is not at its last epoch, because bapi has removed it (0) or put a snapshot into
// its place: written down until the trial has trained a further epoch. These throw StoreError.
void set_checkpoint_epoch(const TrialDir& dir, Epoch epoch);
void forget_checkpoint_epoch(const TrialDir& dir);

// The epoch after which a trial continues that has trained `done`. If its checkpoint was removed, its snapshot is put
// into place.
Epoch continue_after(const TrialDir& dir, Epoch done);

// Keeps the model of the best epoch of one trial where training waits while a report is taken, as a Python function
// does: what was saved since the last report is the model of the epoch that is reported.
class BestModelSaver {
 public:
  // `recent` are the trial's last reports, as many as smoothing needs.
  BestModelSaver(TrialDir dir, Metric metric, std::vector<double> recent = {});

  // Copies the checkpoint directory if it was saved to since the last report and the value, smoothed, improves on the
  // model that is kept.
  void reported(Epoch epoch, double value);

 private:
  TrialDir dir_;
  Metric metric_;
  bool has_reported_ = false;
  std::vector<double> recent_;
  std::optional<Snapshot> kept_;
  TreeState seen_;           // at the last report
  double synced_at_ = -1e9;  // seconds of the monotonic clock
};

}  // namespace bapi
