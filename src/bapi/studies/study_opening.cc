#include "bapi/studies/study_opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/process/gpus.h"
#include "bapi/process/recovery.h"
#include "bapi/report/text.h"
#include "bapi/store/log_writer.h"
#include "bapi/studies/earlier_studies.h"
#include "bapi/studies/provenance.h"
#include "bapi/studies/spec_change.h"
#include "bapi/studies/study_view.h"
#include "bapi/study/quantity.h"
#include "bapi/study/replay.h"

namespace bapi {

namespace {

[[noreturn]] void refuse_changes(const StudyDir& dir, const SpecChange& change) {
  std::vector<std::string> lines = change.frozen;
  lines.insert(lines.end(), change.correctable.begin(), change.correctable.end());
  throw InvalidInput(fmt::format(
      "{} was created with different settings:\n  {}\nIts results would not be comparable. Use another name for "
      "a new study (--name; storage in Python), or undo the change.",
      shown_path(dir.root()),
      fmt::join(lines, "\n  ")));
}

bool has_report(std::span<const Event> events) {
  return std::ranges::any_of(events, [](const Event& event) { return std::holds_alternative<Measured>(event); });
}

// Whether anything was reported in a study, recorded or not: what runs there from before is ended and asked.
bool has_report(const StudyDir& dir, const History& history) {
  if (history.incumbent()) return true;
  for (const Trial& trial : history.trials()) {
    const TrialDir files = dir.trial(trial.id);
    if (!std::filesystem::exists(files.process())) continue;
    if (has_report(recover_process(history.spec(), trial, files))) return true;
  }
  return false;
}

// With the working directory, also as it is seen from the study.
StudySpec placed(StudySpec spec, const StudyDir& dir) {
  spec.cwd_from_study = spec.cwd.empty() ? "" : std::filesystem::path(spec.cwd).lexically_relative(dir.root()).string();
  return spec;
}

OpenedStudy create(const StudyDir& dir, StudyLock lock, const StudySpec& spec) {
  SqliteStore store = SqliteStore::create(dir.database(), placed(spec, dir));
  History history(store.spec());
  return {.dir = dir, .lock = std::move(lock), .store = std::move(store), .events = {}, .history = std::move(history)};
}

// Takes the place of a study that has nothing to lose.
OpenedStudy create_anew(const StudyDir& dir, StudyLock lock, const StudySpec& given, const Tell& tell) {
  given.validate();
  const StudySpec spec = with_earlier_studies(given, dir.root(), tell);
  std::error_code error;
  for (const char* file : {"study.db", "study.db-wal", "study.db-shm", "trials"}) {
    std::filesystem::remove_all(dir.root() / file, error);
    if (error)
      throw StoreError(fmt::format("{}: cannot be removed: {}", (dir.root() / file).string(), error.message()));
  }
  return create(dir, std::move(lock), spec);
}

// What is spent cannot be saved any more. The same total as before is no change, even if a little more was spent.
void refuse_less_than_spent(const History& history, const BudgetSpec& wanted) {
  const Budget budget = history.budget();
  if (wanted.limit == budget.total() || wanted.limit >= budget.spent()) return;
  throw InvalidInput(
      fmt::format("budget: {} is less than the {} that are spent already; the budget of the study is {}. "
                  "It is a total: give that or more, or stop the study as it is",
                  short_cost(wanted.limit, wanted),
                  short_cost(budget.spent(), wanted),
                  short_cost(budget.total(), wanted)));
}

// A study that has ended goes on when its limits were raised, and one that failed too often when it is run again: both
// are said by stating the budget anew.
bool needs_new_budget_event(const History& history, const StudySpec& stored, const StudySpec& wanted) {
  if (wanted.budget.limit != history.budget().total()) return true;
  const bool gave_up = history.failures_in_a_row() >= stored.max_failures;
  return gave_up || (history.finished() && wanted.deadline != stored.deadline);
}

// What the budget is by now: the last total that was set.
Cost total_of(const StudySpec& stored, const std::vector<StoredEvent>& events) {
  Cost total = stored.budget.limit;
  for (const StoredEvent& event : events) {
    if (const auto* changed = std::get_if<BudgetChanged>(&event.event)) total = changed->total;
  }
  return total;
}

// The log of a study that is there, which is read here and nowhere else.
struct ReadStudy {
  SqliteStore store;
  EventLog log;
};
ReadStudy read(const StudyDir& dir) {
  SqliteStore store = SqliteStore::open(dir.database(), Access::read_write);
  EventLog log = store.read(0);
  return {.store = std::move(store), .log = std::move(log)};
}

void append(std::span<const Event> facts, SqliteStore& store, Replay& log) {
  LogWriter writer(store, std::move(log.history), std::ssize(log.events));
  writer.listen([&](const StoredEvent& stored) { log.events.push_back(stored); });
  writer.record_for_good(facts, SystemClock().now());
  log.history = std::move(writer).release();
}

// A study keeps its working directory unless another one is given, and what it has read of earlier studies, wherever
// these are by now.
StudySpec placed_as(const StudySpec& stored, StudySpec wanted, const StudyDir& dir) {
  if (wanted.space == stored.space && wanted.epochs == stored.epochs) wanted.earlier = stored.earlier;
  if (!starts_elsewhere(stored.from, wanted.from)) wanted.from = stored.from;
  if (!wanted.cwd.empty() && wanted.cwd != stored.cwd) return placed(std::move(wanted), dir);
  wanted.cwd = stored.cwd;
  wanted.cwd_from_study = stored.cwd_from_study;
  return wanted;
}

// With what may change as `given` has it. The history does not depend on that, so that it is replayed with it at once.
OpenedStudy adopt(const StudyDir& dir, StudyLock lock, ReadStudy found, const StudySpec& given, const Tell& tell) {
  const StudySpec stored = found.store.spec();
  const StudySpec wanted = placed_as(stored, given, dir);
  wanted.validate_against(stored);
  const SpecChange change = compare(stored, wanted);
  if (!change.frozen.empty() || !change.correctable.empty()) {
    Replay log = replay(stored, found.log);
    if (log.damage) throw found.store.refusal(*log.damage);
    if (has_report(dir, log.history)) refuse_changes(dir, change);
  }
  if (!change.frozen.empty()) {
    { const ReadStudy closed = std::move(found); }
    tell(fmt::format("{}: nothing was reported yet, so the study starts over with the new settings:\n  {}",
                     shown_path(dir.root()),
                     fmt::join(change.frozen, "\n  ")));
    return create_anew(dir, std::move(lock), wanted, tell);
  }
  StudySpec updated = wanted;
  updated.budget.limit = stored.budget.limit;  // later totals are events
  Replay log = replay(updated, std::move(found.log));
  if (log.damage) throw found.store.refusal(*log.damage);
  refuse_less_than_spent(log.history, wanted.budget);
  const bool new_budget = needs_new_budget_event(log.history, stored, wanted);
  std::vector<Event> facts;
  if (!change.settings.empty()) facts.emplace_back(SettingsChanged{.changes = change.settings});
  if (new_budget) facts.emplace_back(BudgetChanged{.total = wanted.budget.limit});
  append(facts, found.store, log);
  if (new_budget) {
    tell(fmt::format("the budget is {}, of which {} is spent",
                     short_cost(wanted.budget.limit, wanted.budget),
                     short_cost(log.history.budget().spent(), wanted.budget)));
  }
  if (!change.settings.empty()) found.store.update_spec(updated);
  for (const SettingChange& setting : change.settings) {
    if (setting.field.starts_with("provenance.")) continue;  // for the record only
    tell(fmt::format("changed {}: {}, was {}", setting.field, setting.after, setting.before));
  }
  return {.dir = dir,
          .lock = std::move(lock),
          .store = std::move(found.store),
          .events = std::move(log.events),
          .history = std::move(log.history)};
}

}  // namespace

void apply(const StudyChanges& changes, StudySpec& spec) {
  if (changes.budget) {
    const BudgetSpec budget = parse_budget(*changes.budget, "--budget");
    if (budget.unit == spec.budget.unit) {
      spec.budget.limit = budget.limit;
    } else {
      spec.budget = budget;
    }
  }
  if (changes.deadline) spec.deadline = parse_duration(*changes.deadline, "--deadline");
  if (changes.workers) {
    spec.workers = *changes.workers;
    spec.gpus.set_workers = false;
  }
}

OpenedStudy open_or_create_study(const StudyDir& dir,
                                 const StudySpec& spec,
                                 const Tell& tell,
                                 const std::filesystem::path& home) {
  StudySpec created = spec;
  if (!is_study(dir)) {  // before anything is made
    spec.validate();
    created = with_earlier_studies(spec, dir.root(), tell);
  }
  dir.create();
  StudyLock lock = StudyLock::take(dir.root());
  if (is_study(dir)) return adopt(dir, std::move(lock), read(dir), spec, tell);
  if (created.cwd.empty()) created.cwd = home.string();
  OpenedStudy study = create(dir, std::move(lock), created);
  tell(fmt::format("new study {} in {}/", spec.name, shown_path(dir.root())));
  return study;
}

std::filesystem::path working_directory(const StudySpec& spec, const StudyDir& dir) {
  std::error_code ignored;
  if (spec.cwd.empty() || std::filesystem::is_directory(spec.cwd, ignored)) return spec.cwd;
  const std::filesystem::path moved = (dir.root() / spec.cwd_from_study).lexically_normal();
  return std::filesystem::is_directory(moved, ignored) ? moved : std::filesystem::path(spec.cwd);
}

OpenedStudy reopen_study(const StudyDir& dir,
                         const StudyChanges& changes,
                         const std::string& version,
                         const Tell& tell) {
  require_own_directory(dir.root());
  StudyLock lock = StudyLock::take(dir.root());
  ReadStudy found = read(dir);
  require(
      !found.store.spec().command.empty(),
      fmt::format("{} has no training command: it was created by a Python or C++ program. Run that program again to "
                  "continue",
                  shown_path(dir.root())));
  StudySpec wanted = found.store.spec();
  wanted.budget.limit = total_of(wanted, found.log.events);
  apply(changes, wanted);
  wanted = with_workers_for_gpus(std::move(wanted), Machine::this_one());
  wanted.provenance = provenance_of(version, working_directory(wanted, dir));
  return adopt(dir, std::move(lock), std::move(found), wanted, tell);
}

}  // namespace bapi
