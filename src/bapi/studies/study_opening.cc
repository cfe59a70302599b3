#include "bapi/studies/study_opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/report/text.h"
#include "bapi/studies/spec_change.h"
#include "bapi/studies/study_view.h"
#include "bapi/study/quantity.h"
#include "bapi/study/replay.h"

namespace bapi {

namespace {

void refuse_frozen_changes(const StudyDir& dir, const SpecChange& change) {
  if (change.frozen.empty()) return;
  throw InvalidInput(fmt::format(
      "{} was created with different settings:\n  {}\nIts results would not be comparable. Use another name for "
      "a new study (--name; storage in Python), or undo the change.",
      shown_path(dir.root()),
      fmt::join(change.frozen, "\n  ")));
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

// With what may change as `wanted` has it. The history does not depend on that, so that it is replayed with it at once.
OpenedStudy adopt(const StudyDir& dir, StudyLock lock, ReadStudy found, const StudySpec& wanted, const Tell& tell) {
  const StudySpec stored = found.store.spec();
  wanted.validate_against(stored);
  const SpecChange change = compare(stored, wanted);
  refuse_frozen_changes(dir, change);
  StudySpec updated = wanted;
  updated.budget.limit = stored.budget.limit;  // later totals are events
  Replay log = replay(updated, std::move(found.log));
  if (log.damage) throw found.store.refusal(*log.damage);
  if (needs_new_budget_event(log.history, stored, wanted)) {
    const std::vector<Event> facts = {BudgetChanged{.total = wanted.budget.limit}};
    const EventSeq last = std::ssize(log.events);
    const double now = SystemClock().now();
    if (!found.store.append(last, facts, now, Durability::power)) throw found.store.competition();
    log.events.push_back({.seq = last + 1, .at = now, .event = facts.front()});
    log.history.apply(facts.front());
    tell(fmt::format("the budget is {}, of which {} is spent",
                     short_cost(wanted.budget.limit, wanted.budget),
                     short_cost(log.history.budget().spent(), wanted.budget)));
  }
  if (!change.free.empty()) found.store.update_spec(updated);
  for (const std::string& line : change.free) tell("changed " + line);
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
  if (changes.workers) spec.workers = *changes.workers;
}

OpenedStudy open_or_create_study(const StudyDir& dir, const StudySpec& spec, const Tell& tell) {
  if (!is_study(dir)) spec.validate();  // before anything is made
  dir.create();
  StudyLock lock = StudyLock::take(dir.root());
  if (is_study(dir)) return adopt(dir, std::move(lock), read(dir), spec, tell);
  SqliteStore store = SqliteStore::create(dir.database(), spec);
  tell(fmt::format("new study {} in {}/", spec.name, shown_path(dir.root())));
  History history(store.spec());
  return {.dir = dir, .lock = std::move(lock), .store = std::move(store), .events = {}, .history = std::move(history)};
}

OpenedStudy reopen_study(const StudyDir& dir, const StudyChanges& changes, const Tell& tell) {
  require_own_directory(dir.root());
  StudyLock lock = StudyLock::take(dir.root());
  ReadStudy found = read(dir);
  require(
      !found.store.spec().command.empty(),
      fmt::format("{} has no training program to start: it is driven by the program that made it, from Python or C++; "
                  "run that again",
                  shown_path(dir.root())));
  StudySpec wanted = found.store.spec();
  wanted.budget.limit = total_of(wanted, found.log.events);
  apply(changes, wanted);
  return adopt(dir, std::move(lock), std::move(found), wanted, tell);
}

}  // namespace bapi
