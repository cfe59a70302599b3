#include "bapi/studies/study_opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/base/file_tree.h"
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

[[noreturn]] void refuse_changes(const StudyPlace& place, const SpecChange& change) {
  std::vector<std::string> lines = change.frozen;
  lines.insert(lines.end(), change.correctable.begin(), change.correctable.end());
  throw InvalidInput(fmt::format(
      "{} was created with different settings:\n  {}\nIts results would not be comparable. Use another name for "
      "a new study (--name; storage in Python), or undo the change.",
      place.shown(),
      fmt::join(lines, "\n  ")));
}

bool has_report(std::span<const Event> events) {
  return std::ranges::any_of(events, [](const Event& event) { return std::holds_alternative<Measured>(event); });
}

// Whether anything was reported in a study, recorded or not: what runs there from before is ended and asked. In a
// database, reports are recorded or among the deliveries, which its leader takes first.
bool has_report(const StudyPlace& place, const History& history) {
  if (history.incumbent()) return true;
  if (place.in_database()) return false;
  const StudyDir& dir = place.dir();
  for (const Trial& trial : history.trials()) {
    const TrialDir files = dir.trial(trial.id);
    if (!is_anything_at(files.process())) continue;
    if (has_report(recover_process(history.spec(), trial, files))) return true;
  }
  return false;
}

// With the working directory, also as it is seen from the study.
StudySpec placed(StudySpec spec, const StudyPlace& place) {
  const bool has_both = !spec.cwd.empty() && !place.in_database();
  spec.cwd_from_study =
      has_both ? std::filesystem::path(spec.cwd).lexically_relative(place.dir().root()).string() : std::string();
  return spec;
}

// For what is read from beside the study.
std::optional<std::filesystem::path> own_directory(const StudyPlace& place) {
  return place.in_database() ? std::nullopt : std::optional(place.dir().root());
}

OpenedStudy new_study(const StudyPlace& place, HeldStudy held) {
  History history(held.store->spec());
  StudyDir dir = files_of(place, *held.store);
  return {.place = place, .dir = std::move(dir), .held = std::move(held), .events = {}, .history = std::move(history)};
}

// Takes the place of a study that has nothing to lose.
OpenedStudy create_again(const StudyPlace& place, HeldStudy held, const StudySpec& given, const Tell& tell) {
  given.validate();
  const StudySpec spec = with_earlier_studies(given, own_directory(place), tell);
  start_over(place, held, placed(spec, place));
  return new_study(place, std::move(held));
}

// What is spent cannot be saved any more. The same total as before is no change, even if a little more was spent.
void refuse_less_than_spent(const History& history, const BudgetSpec& wanted) {
  const Budget budget = history.budget();
  if (wanted.limit == budget.total() || wanted.limit >= budget.spent()) return;
  throw InvalidInput(
      fmt::format("budget: {} is less than the {} already spent; the budget of the study is {}. "
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
  HeldStudy held;
  EventLog log;
  const StudySpec& spec() const { return held.store->spec(); }
};
ReadStudy read(const StudyPlace& place, const std::string& version) {
  HeldStudy held = hold_study(place, version);
  EventLog log = held.store->read(0);
  return {.held = std::move(held), .log = std::move(log)};
}

void append(std::span<const Event> facts, Store& store, Replay& log) {
  LogWriter writer(store, std::move(log.history), std::ssize(log.events));
  writer.listen([&](const StoredEvent& stored) { log.events.push_back(stored); });
  writer.record_for_good(facts, SystemClock().now());
  log.history = std::move(writer).release();
}

// A study keeps its working directory unless another one is given, and what it has read of earlier studies, wherever
// these are by now.
StudySpec placed_as(const StudySpec& stored, StudySpec wanted, const StudyPlace& place) {
  if (wanted.space == stored.space && wanted.epochs == stored.epochs) wanted.earlier = stored.earlier;
  if (!starts_elsewhere(stored.from, wanted.from)) wanted.from = stored.from;
  if (!wanted.cwd.empty() && wanted.cwd != stored.cwd) return placed(std::move(wanted), place);
  wanted.cwd = stored.cwd;
  wanted.cwd_from_study = stored.cwd_from_study;
  return wanted;
}

OpenedStudy opened(const StudyPlace& place, HeldStudy held, Replay log) {
  StudyDir dir = files_of(place, *held.store);
  return {.place = place,
          .dir = std::move(dir),
          .held = std::move(held),
          .events = std::move(log.events),
          .history = std::move(log.history)};
}

// With what may change as `given` has it. The history does not depend on that, so that it is replayed with it at once.
OpenedStudy adopt(const StudyPlace& place, ReadStudy found, const StudySpec& given, const Tell& tell) {
  const StudySpec stored = found.spec();
  const StudySpec wanted = placed_as(stored, given, place);
  wanted.validate_against(stored);
  const SpecChange change = compare(stored, wanted);
  if (!change.frozen.empty() || !change.correctable.empty()) {
    Replay log = replay(stored, found.log);
    if (log.damage) throw found.held.store->refusal(*log.damage);
    if (has_report(place, log.history)) refuse_changes(place, change);
  }
  if (!change.frozen.empty()) {
    tell(fmt::format("{}: nothing was reported yet, so the study starts over with the new settings:\n  {}",
                     place.shown(),
                     fmt::join(change.frozen, "\n  ")));
    return create_again(place, std::move(found.held), wanted, tell);
  }
  StudySpec updated = wanted;
  updated.budget.limit = stored.budget.limit;  // later totals are events
  Replay log = replay(updated, std::move(found.log));
  if (log.damage) throw found.held.store->refusal(*log.damage);
  refuse_less_than_spent(log.history, wanted.budget);
  const bool new_budget = needs_new_budget_event(log.history, stored, wanted);
  std::vector<Event> facts;
  if (!change.settings.empty()) facts.emplace_back(SettingsChanged{.changes = change.settings});
  if (new_budget) facts.emplace_back(BudgetChanged{.total = wanted.budget.limit});
  append(facts, *found.held.store, log);
  if (new_budget) {
    tell(fmt::format("the budget is {}, of which {} is spent",
                     short_cost(wanted.budget.limit, wanted.budget),
                     short_cost(log.history.budget().spent(), wanted.budget)));
  }
  if (!change.settings.empty()) update_spec(found.held, updated);
  for (const SettingChange& setting : change.settings) {
    if (setting.field.starts_with("provenance.")) continue;  // for the record only
    tell(fmt::format("changed {}: {}, was {}", setting.field, setting.after, setting.before));
  }
  return opened(place, std::move(found.held), std::move(log));
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

OpenedStudy open_or_create_study(const StudyPlace& place,
                                 const StudySpec& spec,
                                 const Tell& tell,
                                 const std::filesystem::path& home) {
  if (!place.exists()) {  // before anything is made
    spec.validate();
    StudySpec created = with_earlier_studies(spec, own_directory(place), tell);
    if (created.cwd.empty()) created.cwd = home.string();
    if (std::optional<HeldStudy> made = create_study(place, placed(std::move(created), place))) {
      tell(fmt::format("new study {} in {}{}", spec.name, place.shown(), place.in_database() ? "" : "/"));
      return new_study(place, std::move(*made));
    }
  }
  return adopt(place, read(place, spec.provenance.bapi), spec, tell);
}

OpenedStudy take_over_study(const DatabaseStudy& study, const std::string& version) {
  ReadStudy found = read(study, version);
  Replay log = replay(found.spec(), std::move(found.log));
  if (log.damage) throw found.held.store->refusal(*log.damage);
  return opened(study, std::move(found.held), std::move(log));
}

void take_files(OpenedStudy& study, const std::filesystem::path& directory) {
  const StudyDir wanted(directory);
  if (is_nowhere(study.dir)) {
    wanted.require_no_trials();
    set_files(study.held, wanted.root());
    study.dir = wanted;
  }
  if (study.dir.root() == wanted.root()) wanted.create();
}

std::filesystem::path working_directory(const StudySpec& spec, const StudyDir& dir) {
  std::error_code ignored;
  if (spec.cwd.empty() || std::filesystem::is_directory(spec.cwd, ignored)) return spec.cwd;
  const std::filesystem::path moved = (dir.root() / spec.cwd_from_study).lexically_normal();
  return std::filesystem::is_directory(moved, ignored) ? moved : std::filesystem::path(spec.cwd);
}

OpenedStudy reopen_study(const StudyPlace& place,
                         const StudyChanges& changes,
                         const std::string& version,
                         const Tell& tell) {
  ReadStudy found = read(place, version);
  require(
      !found.spec().command.empty(),
      fmt::format("{} has no training command: it was created by a Python or C++ program. Run that program again to "
                  "continue",
                  place.shown()));
  StudySpec wanted = found.spec();
  wanted.budget.limit = total_of(wanted, found.log.events);
  apply(changes, wanted);
  wanted = with_workers_for_gpus(std::move(wanted), Machine::this_one());
  wanted.provenance = provenance_of(version, working_directory(wanted, files_of(place, *found.held.store)));
  return adopt(place, std::move(found), wanted, tell);
}

}  // namespace bapi
