#include "bapi/studies/study_opening.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/report/text.h"
#include "bapi/studies/spec_change.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

using Tell = std::function<void(const std::string&)>;

void refuse_frozen_changes(const StudyDir& dir, const SpecChange& change) {
  if (change.frozen.empty()) return;
  throw InvalidInput(fmt::format(
      "{} was begun with another specification:\n  {}\nIts results would not be comparable. Use another name for "
      "a new study (--name; storage in Python), or undo the change.",
      shown_path(dir.root()),
      fmt::join(change.frozen, "\n  ")));
}

// A study that has ended goes on when its limits were raised, and one that failed too often when it is run again: both
// are said by stating the budget anew.
bool needs_new_budget_event(const History& history, const StudySpec& wanted) {
  if (wanted.budget.limit != history.budget().total()) return true;
  const bool gave_up = history.failures_in_a_row() >= history.spec().max_failures;
  return gave_up || (history.finished() && wanted.deadline != history.spec().deadline);
}

void adopt_changes(SqliteStore& store, const StudyDir& dir, const StudySpec& wanted, const Tell& tell) {
  const StudySpec stored = store.spec();
  const SpecChange change = compare(stored, wanted);
  refuse_frozen_changes(dir, change);
  const Replay log = replay(stored, store.read(0));
  if (log.damage) throw store.refusal(*log.damage);
  const History& history = log.history;
  if (needs_new_budget_event(history, wanted)) {
    const std::vector<Event> facts = {BudgetChanged{.total = wanted.budget.limit}};
    if (!store.append(std::ssize(log.events), facts, SystemClock().now(), Durability::power)) throw store.competition();
    tell(fmt::format("the budget is {}, of which {} is spent",
                     short_cost(wanted.budget.limit, wanted.budget),
                     short_cost(history.budget().spent(), wanted.budget)));
  }
  if (change.free.empty()) return;
  StudySpec updated = wanted;
  updated.budget.limit = stored.budget.limit;  // later totals are events
  store.update_spec(updated);
  for (const std::string& line : change.free) tell("changed " + line);
}

}  // namespace

SqliteStore open_or_create_study(const StudyDir& dir, const StudySpec& spec, const Tell& tell) {
  if (is_study(dir)) return reopen_study(dir, spec, tell);
  SqliteStore store = SqliteStore::create(dir.database(), spec);
  tell(fmt::format("new study {} in {}/", spec.name, shown_path(dir.root())));
  return store;
}

SqliteStore reopen_study(const StudyDir& dir, const StudySpec& wanted, const Tell& tell) {
  SqliteStore store = SqliteStore::open(dir.database(), Access::read_write);
  adopt_changes(store, dir, wanted, tell);
  return store;
}

}  // namespace bapi
