#include "bapi/store/snapshot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <sstream>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/file.h"
#include "bapi/base/file_tree.h"
#include "bapi/base/number.h"
#include "bapi/study/direction.h"

namespace bapi {

namespace fs = std::filesystem;

namespace {

constexpr int kAttempts = 3;                  // while the files change
constexpr const char* kPrefix = "epoch-";     // of the name of a complete snapshot
constexpr const char* kUnfinished = ".new";   // one that is being made, or was when its maker was killed
constexpr const char* kFiles = "checkpoint";  // within a snapshot
constexpr const char* kAbout = "about";
constexpr const char* kMissed = "missed";  // beside the snapshots
constexpr std::size_t kLargestText = 16 * 1024;

fs::path restored_beside(const TrialDir& dir) { return dir.models() / "checkpoint.new"; }
fs::path checkpoint_epoch_file(const TrialDir& dir) { return dir.models() / "checkpoint-epoch"; }

// Why nothing of a trial's snapshots may be read, written or removed: a link may lead to files that are none of bapi's.
std::string lies_elsewhere(const TrialDir& dir) {
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(dir.best(), ignored)) ? why_not("use", dir.best(), ELOOP) : "";
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string about_text(const SnapshotLabel& label, const TreeState& files, Sync sync) {
  return fmt::format("epoch {}\nvalue {}\nfiles {}\nbytes {}\nsynced {}\nremark {}\n",
                     label.epoch,
                     label.value,
                     files.files(),
                     files.bytes(),
                     sync == Sync::yes ? 1 : 0,
                     on_one_line(label.remark));
}

std::optional<Epoch> epoch_of_name(const std::string& name) {
  const std::string_view prefix = kPrefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto epoch = number_in<Epoch>(std::string_view(name).substr(prefix.size()));
  return epoch >= 1 ? epoch : std::nullopt;
}

// A number as fmt writes it; streams do not read "inf" and "nan", which no report has anyway.
template <typename Number>
bool take(std::istream& in, std::string_view name, Number& value) {
  std::string found;
  return in >> found >> value && found == name;
}

// nullopt if it is not whole: its files are not those that its label counts.
std::optional<Snapshot> read_snapshot(const fs::path& directory) {
  const auto text = read_whole_file(directory / kAbout, kLargestText);
  if (!text) return std::nullopt;
  std::istringstream in(*text);
  Snapshot snapshot{.files = directory / kFiles, .label = {}};
  std::int64_t files = 0;
  int synced = 0;
  std::string remark;
  const bool read = take(in, "epoch", snapshot.label.epoch) && take(in, "value", snapshot.label.value) &&
                    take(in, "files", files) && take(in, "bytes", snapshot.bytes) && take(in, "synced", synced) &&
                    in >> remark && remark == "remark" && in.get() == ' ';
  if (!read) return std::nullopt;
  std::getline(in, snapshot.label.remark);
  snapshot.synced = synced == 1;
  const auto scanned = scan_tree(snapshot.files);
  const auto* state = std::get_if<TreeState>(&scanned);
  if (!state || state->files() != files || state->bytes() != snapshot.bytes) return std::nullopt;
  return snapshot;
}

// Complete ones, the highest epoch first.
std::vector<Snapshot> snapshots_of(const TrialDir& dir) {
  if (!lies_elsewhere(dir).empty()) return {};
  std::vector<std::pair<Epoch, fs::path>> found;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir.best(), failed)) {
    const std::optional<Epoch> epoch = epoch_of_name(entry.path().filename().string());
    if (epoch) found.emplace_back(*epoch, entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<Snapshot> snapshots;
  for (const auto& [epoch, path] : found) {
    std::optional<Snapshot> snapshot = read_snapshot(path);
    if (snapshot && snapshot->label.epoch == epoch) snapshots.push_back(std::move(*snapshot));
  }
  return snapshots;
}

// All but the newest one, and but the newest that a power cut cannot tear.
void remove_superseded(const TrialDir& dir) {
  if (!lies_elsewhere(dir).empty()) return;
  const std::vector<Snapshot> complete = snapshots_of(dir);
  std::vector<fs::path> kept;
  for (const Snapshot& snapshot : complete) {
    kept.push_back(snapshot.files.parent_path());
    if (snapshot.synced) break;
    if (kept.size() > 1) kept.pop_back();
  }
  std::error_code failed;
  std::vector<fs::path> superseded;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir.best(), failed)) {
    const bool snapshot = epoch_of_name(entry.path().filename().string()).has_value();
    if (snapshot && std::find(kept.begin(), kept.end(), entry.path()) == kept.end()) superseded.push_back(entry.path());
  }
  for (const fs::path& path : superseded) remove_tree(path);
}

std::string sync_directory(const fs::path& directory) {
  const FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened && ::fsync(opened.get()) == 0 ? "" : why_not("write", directory, errno);
}

std::string move_into_place(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return "";
  if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return why_not("create", to, errno);
  // One of the same epoch, from before: they change places, and the other is removed.
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    return why_not("replace", to, errno);
  }
  return remove_tree(from);
}

std::string copy_unchanged(const SnapshotRequest& request, const fs::path& to, TreeState& state, CopySummary& copy) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (std::string trouble = remove_tree(to); !trouble.empty()) return trouble;
    const auto before = scan_tree(request.dir.checkpoint());
    if (const auto* trouble = std::get_if<std::string>(&before)) return *trouble;
    state = std::get<TreeState>(before);
    if (state.empty()) return "the checkpoint directory is empty";
    if (state.newest_content() > request.written_by) return kSavedAgain;
    copy = copy_tree(request.dir.checkpoint(), to, request.cancel);
    if (!copy.failure.empty()) return copy.failure;
    if (scan_tree(request.dir.checkpoint()) == before) return "";
  }
  return "the checkpoint was being written while it was copied";
}

std::string remark_of(const SnapshotLabel& label, const CopySummary& copy) {
  std::string remark = label.remark;
  const auto add = [&](const std::string& text) { remark += (remark.empty() ? "" : "; ") + text; };
  if (copy.links_outside > 0) add(fmt::format("{} links lead out of the checkpoint directory", copy.links_outside));
  if (copy.skipped > 0) add(fmt::format("{} pipes, sockets or devices were left out", copy.skipped));
  return remark;
}

// Removes what it has begun unless it was finished.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {}
  ~Unfinished() { remove_tree(path_); }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string make_snapshot(const SnapshotRequest& request, const std::function<void()>& copied, Snapshot& snapshot) {
  if (std::string trouble = lies_elsewhere(request.dir); !trouble.empty()) return trouble;
  make_directories(request.dir.best());
  const Unfinished unfinished(request.dir.best() / kUnfinished);
  if (std::string trouble = remove_tree(unfinished.path()); !trouble.empty()) return trouble;
  make_directories(unfinished.path());
  TreeState state;
  CopySummary copy;
  if (std::string trouble = copy_unchanged(request, unfinished.path() / kFiles, state, copy); !trouble.empty()) {
    return trouble;
  }
  copied();
  snapshot.label = request.label;
  snapshot.label.remark = remark_of(request.label, copy);
  snapshot.bytes = state.bytes();
  snapshot.synced = request.sync == Sync::yes;
  replace_file(unfinished.path() / kAbout, about_text(snapshot.label, state, request.sync));
  if (request.sync == Sync::yes) {
    if (std::string trouble = sync_tree(unfinished.path()); !trouble.empty()) return trouble;
  }
  const fs::path place = request.dir.best() / fmt::format("{}{}", kPrefix, request.label.epoch);
  snapshot.files = place / kFiles;
  if (std::string trouble = move_into_place(unfinished.path(), place); !trouble.empty()) return trouble;
  return request.sync == Sync::yes ? sync_directory(request.dir.best()) : "";
}

}  // namespace

std::optional<Snapshot> newest_snapshot(const TrialDir& dir) {
  std::vector<Snapshot> complete = snapshots_of(dir);
  if (complete.empty()) return std::nullopt;
  return std::move(complete.front());
}

bool improves(const std::optional<Snapshot>& kept, double value, const Metric& metric) {
  if (!std::isfinite(value)) return false;
  if (!kept || metric.of == ValueOf::last) return true;
  return oriented(value, metric.goal) > oriented(kept->label.value, metric.goal);
}

SnapshotResult take_snapshot(const SnapshotRequest& request) {
  bool told = false;
  const auto copied = [&] {
    if (!told && request.copied) request.copied();
    told = true;
  };
  SnapshotResult result;
  Snapshot snapshot;
  try {
    result.failure = make_snapshot(request, copied, snapshot);
  } catch (const StoreError& error) {
    result.failure = error.what();
  }
  copied();
  if (!result.failure.empty()) return result;
  remove_superseded(request.dir);
  result.taken = std::move(snapshot);
  return result;
}

void settle_snapshots(const TrialDir& dir) {
  const std::optional<Snapshot> newest = newest_snapshot(dir);
  if (!newest) return;
  try {
    if (!newest->synced) {
      const fs::path place = newest->files.parent_path();
      const auto state = scan_tree(newest->files);
      if (!std::holds_alternative<TreeState>(state) || !sync_tree(place).empty()) return;
      replace_file(place / kAbout, about_text(newest->label, std::get<TreeState>(state), Sync::yes));
      if (!sync_tree(place).empty() || !sync_directory(dir.best()).empty()) return;
    }
    remove_superseded(dir);
  } catch (const StoreError&) {
    // The disk is full or gone: what was kept so far stays.
  }
}

void note_missed(const TrialDir& dir, const MissedSnapshot& missed) {
  if (!lies_elsewhere(dir).empty()) return;
  try {
    make_directories(dir.best());
    replace_file(dir.best() / kMissed, fmt::format("{} {}\n", missed.epoch, on_one_line(missed.reason)));
  } catch (const StoreError&) {
    // Of a full disk nothing can be noted on it.
  }
}

std::optional<MissedSnapshot> missed_snapshot(const TrialDir& dir) {
  const auto text = read_whole_file(dir.best() / kMissed, kLargestText);
  if (!text) return std::nullopt;
  std::istringstream in(*text);
  MissedSnapshot missed;
  if (!(in >> missed.epoch) || in.get() != ' ') return std::nullopt;
  std::getline(in, missed.reason);
  return missed;
}

std::vector<fs::path> unfinished_copies(const TrialDir& dir) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::path& path : {dir.best() / kUnfinished, restored_beside(dir)}) {
    if (lies_elsewhere(dir).empty() && fs::exists(path, ignored)) found.push_back(path);
  }
  return found;
}

void set_checkpoint_epoch(const TrialDir& dir, Epoch epoch) {
  replace_file(checkpoint_epoch_file(dir), fmt::format("{}\n", epoch));
}

void forget_checkpoint_epoch(const TrialDir& dir) {
  std::error_code ignored;
  fs::remove(checkpoint_epoch_file(dir), ignored);
}

Epoch continue_after(const TrialDir& dir, Epoch done) {
  const auto text = read_whole_file(checkpoint_epoch_file(dir), kLargestText);
  Epoch epoch = 0;
  if (!text || !(std::istringstream(*text) >> epoch)) return done;
  if (epoch > 0) return std::min(epoch, done);
  const std::optional<Snapshot> snapshot = newest_snapshot(dir);
  if (!snapshot || snapshot->label.epoch > done || !restore_snapshot(dir, *snapshot).empty()) return 0;
  return snapshot->label.epoch;
}

BestModelSaver::BestModelSaver(TrialDir dir, Metric metric, std::vector<double> recent)
    : dir_(std::move(dir)), metric_(std::move(metric)), recent_(std::move(recent)), kept_(newest_snapshot(dir_)) {
  const auto scanned = scan_tree(dir_.checkpoint());
  if (const auto* state = std::get_if<TreeState>(&scanned)) seen_ = *state;
}

void BestModelSaver::reported(Epoch epoch, double reported_value) {
  if (!std::exchange(has_reported_, true)) forget_checkpoint_epoch(dir_);
  const double value = counted_report(reported_value, recent_, metric_.smooth);
  auto scanned = scan_tree(dir_.checkpoint());
  auto* state = std::get_if<TreeState>(&scanned);
  if (!state || state->empty()) return;  // it keeps no files
  const bool saved = *state != seen_;
  seen_ = std::move(*state);
  if (!improves(kept_, value, metric_)) return;
  if (!saved) return note_missed(dir_, {.epoch = epoch, .reason = kNotSaved});
  const double now = SystemClock().now();
  const Sync sync = now - synced_at_ >= kSyncEvery ? Sync::yes : Sync::no;
  if (sync == Sync::yes) synced_at_ = now;
  SnapshotResult result =
      take_snapshot({.dir = dir_, .label = {.epoch = epoch, .value = value}, .sync = sync, .cancel = nullptr});
  if (result.taken) {
    kept_ = std::move(result.taken);
  } else {
    note_missed(dir_, {.epoch = epoch, .reason = result.failure});
  }
}

std::string restore_snapshot(const TrialDir& dir, const Snapshot& snapshot) {
  const Unfinished beside(restored_beside(dir));
  if (std::string trouble = remove_tree(beside.path()); !trouble.empty()) return trouble;
  const CopySummary copy = copy_tree(snapshot.files, beside.path());
  if (!copy.failure.empty()) return copy.failure;
  try {
    make_directories(dir.checkpoint());
    // First the epoch: an older checkpoint than it says is worse than a newer one.
    set_checkpoint_epoch(dir, snapshot.label.epoch);
  } catch (const StoreError& error) {
    return error.what();
  }
  const char* const from = beside.path().c_str();
  const fs::path place = dir.checkpoint();
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return "";
  // A file system that cannot exchange.
  if (std::string trouble = remove_tree(place); !trouble.empty()) return trouble;
  return ::rename(from, place.c_str()) == 0 ? "" : why_not("create", place, errno);
}

}  // namespace bapi
