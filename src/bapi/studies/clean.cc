#include "bapi/studies/clean.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "bapi/base/error.h"
#include "bapi/base/file_tree.h"
#include "bapi/store/snapshot.h"
#include "bapi/studies/best_model.h"
#include "bapi/studies/running_ahead.h"

namespace bapi {

namespace fs = std::filesystem;

namespace {

// The best trainings of the best configurations, as many as are to be kept.
std::set<TrialId> winners(const History& history, int count) {
  std::set<TrialId> best;
  for (const Standing& standing : leaderboard(history)) {
    if (std::ssize(best) < count) best.insert(standing.best);
  }
  return best;
}

bool may_be_resumed(const Trial& trial, const History& history) {
  return !history.finished() && (trial.segment || trial.stage().resumable());
}

}  // namespace

DiskUse disk_use(const StudyDir& dir, const History& history) {
  DiskUse use;
  for (const Trial& trial : history.trials()) {
    use.checkpoints += disk_usage(dir.trial(trial.id).checkpoint());
    use.snapshots += disk_usage(dir.trial(trial.id).best());
  }
  return use;
}

Fields status_of(const StudyDir& dir, const History& history, Controller controller) {
  Fields record = status_record(history, controller, best_model(dir, history));
  const DiskUse use = disk_use(dir, history);
  record.emplace_back("disk", Fields{{"checkpoints", use.checkpoints}, {"snapshots", use.snapshots}});
  record.emplace_back("lockstep", history.spec().command.empty() || history.spec().in_lockstep());
  record.emplace_back("ahead", running_ahead(dir, history).epochs);
  return record;
}

std::string short_bytes(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < kUnits.size()) {
    amount /= 1000.0;
    ++unit;
  }
  return unit == 0 || amount >= 99.5 ? fmt::format("{:.0f} {}", amount, kUnits.at(unit))
                                     : fmt::format("{:.1f} {}", amount, kUnits.at(unit));
}

std::vector<Rubbish> rubbish_of(const StudyDir& dir,
                                const History& history,
                                const KeptCheckpoints& keep,
                                const std::set<TrialId>& busy) {
  if (keep.best == 0) return {};
  const std::set<TrialId> best = winners(history, keep.best);
  std::vector<Rubbish> rubbish;
  for (const Trial& trial : history.trials()) {
    if (busy.contains(trial.id) || may_be_resumed(trial, history)) continue;
    const TrialDir place = dir.trial(trial.id);
    const auto add = [&](Rubbish::Kind kind, const fs::path& path) {
      rubbish.push_back({.trial = trial.id, .kind = kind, .path = path, .bytes = disk_usage(path)});
    };
    const bool winner = best.contains(trial.id);
    const bool superfluous = !winner || (!keep.final && newest_snapshot(place).has_value());
    if (superfluous && holds_something(place.checkpoint())) add(Rubbish::Kind::checkpoint, place.checkpoint());
    std::error_code ignored;
    if (!winner && fs::exists(place.best(), ignored)) add(Rubbish::Kind::snapshot, place.best());
    for (const fs::path& leftover : unfinished_copies(place)) {
      if (winner || leftover.parent_path() != place.best()) add(Rubbish::Kind::leftover, leftover);
    }
  }
  return rubbish;
}

std::vector<std::string> remove_rubbish(const StudyDir& dir, const std::vector<Rubbish>& rubbish) {
  std::vector<std::string> troubles;
  for (const Rubbish& item : rubbish) {
    if (item.kind == Rubbish::Kind::checkpoint) {
      try {
        set_checkpoint_epoch(dir.trial(item.trial), 0);
      } catch (const StoreError& error) {
        troubles.emplace_back(error.what());
        continue;
      }
    }
    if (std::string trouble = remove_tree(item.path); !trouble.empty()) troubles.push_back(std::move(trouble));
  }
  return troubles;
}

void Cleaner::saw(const Event& event) {
  due_ = due_ || std::holds_alternative<SegmentDone>(event) || std::holds_alternative<ProgramEnded>(event) ||
         std::holds_alternative<TrialFailed>(event) || std::holds_alternative<TrialStopped>(event) ||
         std::holds_alternative<StudyFinished>(event);
}

void Cleaner::clean(const History& history, const std::vector<TrialId>& in_use) {
  if (!due_ || keep_.best == 0) return;
  if (removing_.valid() && removing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  due_ = !in_use.empty();  // what is being ended becomes rubbish a little later
  std::vector<Rubbish> rubbish = rubbish_of(dir_, history, keep_, {in_use.begin(), in_use.end()});
  if (rubbish.empty()) return;
  removing_ =
      std::async(std::launch::async, [dir = dir_, rubbish = std::move(rubbish)] { remove_rubbish(dir, rubbish); });
}

void Cleaner::clean_up(const History& history) {
  if (removing_.valid()) removing_.wait();
  if (keep_.best > 0) remove_rubbish(dir_, rubbish_of(dir_, history, keep_));
}

Table rubbish_table(const std::vector<Rubbish>& rubbish) {
  Table table({"trial", "kind", "path", "bytes"});
  for (const Rubbish& item : rubbish) {
    table.add({index(item.trial), word(item.kind), item.path.string(), item.bytes});
  }
  return table;
}

}  // namespace bapi
