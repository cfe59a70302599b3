#pragma once

#include <array>
#include <map>
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
enum class CostKind { epoch, start_up, repeat, unfinished, grace, failed, ahead, unreported, snapshot, lost };
inline constexpr std::array kCostKinds = {CostKind::epoch,
                                          CostKind::start_up,
                                          CostKind::repeat,
                                          CostKind::unfinished,
                                          CostKind::grace,
                                          CostKind::failed,
                                          CostKind::ahead,
                                          CostKind::unreported,
                                          CostKind::snapshot,
                                          CostKind::lost};
template <>
inline constexpr auto names<CostKind> = NameTable{Name{CostKind::epoch, "epoch"},
                                                  Name{CostKind::start_up, word(OverheadKind::start_up)},
                                                  Name{CostKind::repeat, word(OverheadKind::repeat)},
                                                  Name{CostKind::unfinished, word(OverheadKind::unfinished)},
                                                  Name{CostKind::grace, word(OverheadKind::grace)},
                                                  Name{CostKind::failed, word(OverheadKind::failed)},
                                                  Name{CostKind::ahead, "ahead"},
                                                  Name{CostKind::unreported, word(OverheadKind::unreported)},
                                                  Name{CostKind::snapshot, word(OverheadKind::snapshot)},
                                                  Name{CostKind::lost, word(OverheadKind::lost)}};

// Whether it bought a point of a curve; everything else is overhead.
constexpr bool is_training(CostKind kind) { return kind == CostKind::epoch || kind == CostKind::ahead; }

struct Charge {
  EventSeq seq = 0;
  TrialId trial{};
  Epoch epoch = 0;
  CostKind kind = CostKind::epoch;
  Cost cost = 0.0;
};
std::vector<Charge> ledger(std::span<const StoredEvent> events);

// The same of a log that is read event by event.
class LedgerReader {
 public:
  std::optional<Charge> take(const StoredEvent& stored);

 private:
  std::map<TrialId, Epoch> decided_;  // the end of the trial's last segment
};

// Sums by kind, indexed by CostKind.
using Spending = std::array<Cost, kCostKinds.size()>;
Spending spending(std::span<const Charge> charges);
Cost training_of(const Spending& sums);
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

// The files of a study's best model, and what is to be said of them.
struct ModelFiles {
  std::string path = {};            // a directory; empty if there is none
  std::optional<Epoch> epoch = {};  // that the files are of; nullopt if that is not known
  std::string note = {};            // why they are not those of the best epoch, or what else their user must know
};

// "0.938", and "0.938 ± 0.004" for the mean of several trainings with its standard error.
std::string value_text(const Best& found);
std::string mean_text(double mean, const std::optional<double>& standard_error);

// {trial, epoch, value, config, checkpoint, checkpoint_epoch, checkpoint_note}; what `model` does not have is null. Of
// a study that repeats its finalists also {standard_error, trainings, trial_value}: value is then the mean.
Cell best_cell(const History& history, const ModelFiles& model);

// {name, policy, state, budget: {total, spent, remaining, unit}, trials: {...}, best}. `remaining` is the total less
// what was spent, never negative; what running segments will still cost is in it.
// Where the study was run last, with which versions; docs/store.md.
Fields provenance_record(const Provenance& provenance);

Fields status_record(const History& history, Controller controller, const ModelFiles& model);

// {trial, state, epochs, best, spent, config}; with repeats also {repeat_of, trainings, mean, standard_error}.
Table trials_table(const History& history, Controller controller);
Table ledger_table(std::span<const StoredEvent> events);  // {seq, trial, epoch, kind, cost}
// {epoch, value, cost}; also {smoothed}, where values are, and {metrics}, where there are others.
Table curve_table(const History& history, TrialId trial);

// What the report of an epoch had besides the metric that is tuned.
Fields other_metrics(const Trial& trial, Epoch epoch);
Table decisions_table(std::span<const StoredEvent> events);  // {seq, at, trial, event, until, why}

}  // namespace bapi
