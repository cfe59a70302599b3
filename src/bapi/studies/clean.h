#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "bapi/report/summary.h"
#include "bapi/report/table.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/history.h"
#include "bapi/study/spec.h"

namespace bapi {

// Bytes on the disk.
struct DiskUse {
  std::int64_t checkpoints = 0;  // what programs have saved
  std::int64_t snapshots = 0;    // the models of best epochs that bapi has kept
  std::int64_t total() const { return checkpoints + snapshots; }
};
DiskUse disk_use(const StudyDir& dir, const History& history);

// The record of `bapi status`: status_record() with disk: {checkpoints, snapshots} in bytes; lockstep; ahead, see
// running_ahead.h.
Fields status_of(const StudyDir& dir, const History& history, Controller controller);

std::string short_bytes(std::int64_t bytes);  // "512 B", "4.1 kB", "1.2 GB"

// Something that is not needed any more.
struct Rubbish {
  enum class Kind { checkpoint, snapshot, leftover };
  TrialId trial{};
  Kind kind = Kind::checkpoint;
  std::filesystem::path path;
  std::int64_t bytes = 0;
};
template <>
inline constexpr auto names<Rubbish::Kind> = NameTable{Name{Rubbish::Kind::checkpoint, "checkpoint"},
                                                       Name{Rubbish::Kind::snapshot, "snapshot"},
                                                       Name{Rubbish::Kind::leftover, "leftover"}};

// What `keep` does not keep: everything of the trials that are not among its best and can no longer be resumed, because
// they have ended or the study has; of its best, the last checkpoint unless it is to be kept beside the snapshot; and
// what killed processes have left half-done. Trials in `busy` are left alone. Nothing if `keep` keeps all.
std::vector<Rubbish> rubbish_of(const StudyDir& dir,
                                const History& history,
                                const KeptCheckpoints& keep,
                                const std::set<TrialId>& busy = {});

// Removes it. A trial that loses its checkpoint begins at epoch 1 again, or at its snapshot, should it ever be
// continued. Returns what could not be removed.
std::vector<std::string> remove_rubbish(const StudyDir& dir, const std::vector<Rubbish>& rubbish);

// Keeps a study clean while it runs: looks when a trial or the study has ended, and removes in a thread, because large
// files take their time.
class Cleaner {
 public:
  Cleaner(StudyDir dir, const KeptCheckpoints& keep) : dir_(std::move(dir)), keep_(keep) {}

  void saw(const Event& event);
  void clean(const History& history, const std::vector<TrialId>& in_use);
  void clean_up(const History& history);  // returns when it is done; nothing runs any more

 private:
  StudyDir dir_;
  KeptCheckpoints keep_;
  bool due_ = true;
  std::future<void> removing_;
};

Table rubbish_table(const std::vector<Rubbish>& rubbish);  // {trial, kind, path, bytes}

}  // namespace bapi
