#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/report/table.h"
#include "bapi/study/event.h"
#include "bapi/study/history.h"
#include "bapi/study/progress.h"

namespace bapi {

// What can be said about a study, computed from its events. Values are in the user's direction throughout.

// ---- The ledger: one row per charge, in the order of the log. Added up in this order, the costs give
// history.budget().spent() to the last bit.

// `ahead` are epochs that a program trained past what had been decided when it reported them.
enum class CostKind { epoch, start_up, repeat, grace, failed, ahead };
inline constexpr std::array<CostKind, 6> kCostKinds = {
    CostKind::epoch, CostKind::start_up, CostKind::repeat, CostKind::grace, CostKind::failed, CostKind::ahead};
template <>
inline constexpr auto names<CostKind> = NameTable{Name{CostKind::epoch, "epoch"},
                                                  Name{CostKind::start_up, word(OverheadKind::start_up)},
                                                  Name{CostKind::repeat, word(OverheadKind::repeat)},
                                                  Name{CostKind::grace, word(OverheadKind::grace)},
                                                  Name{CostKind::failed, word(OverheadKind::failed)},
                                                  Name{CostKind::ahead, "ahead"}};

struct Charge {
  EventSeq seq = 0;
  TrialId trial{};
  Epoch epoch = 0;
  CostKind kind = CostKind::epoch;
  Cost cost = 0.0;
};
std::vector<Charge> ledger(std::span<const StoredEvent> events);

// Sums by kind, indexed by CostKind.
using Spending = std::array<Cost, kCostKinds.size()>;
Spending spending(std::span<const Charge> charges);
std::vector<Spending> spending_by_trial(std::span<const Charge> charges, std::size_t trials);

// ---- Progress

struct TrialCounts {
  int running = 0;
  int interrupted = 0;
  int paused = 0;
  int completed = 0;
  int stopped = 0;
  int failed = 0;
};
// Without a controller nothing runs: a trial that was running when it died waits to be continued.
TrialState shown_state(const Trial& trial, Controller controller);
TrialCounts count_trials(const History& history, Controller controller);

// "new" (nothing decided yet), "running", "interrupted" (to be resumed) or "finished".
std::string_view study_state(const History& history, Controller controller);

// ---- Listings, with the names that scripts rely on

// {trial, epoch, value, config, checkpoint}; `checkpoint` is null if the path is empty.
Cell best_cell(const History& history, const std::string& checkpoint);

// {name, policy, state, budget: {total, spent, remaining, unit}, trials: {...}, best}. `remaining` is the total less
// what was spent, never negative; what running segments will still cost is in it.
Fields status_record(const History& history, Controller controller, const std::string& best_checkpoint);

Table trials_table(const History& history, Controller controller);  // {trial, state, epochs, best, spent, config}
Table ledger_table(std::span<const StoredEvent> events);            // {seq, trial, epoch, kind, cost}
Table curve_table(const History& history, TrialId trial);           // {epoch, value, cost}
Table decisions_table(std::span<const StoredEvent> events);         // {seq, at, trial, event, until, why}

}  // namespace bapi
