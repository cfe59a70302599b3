#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bapi/control/running.h"
#include "bapi/study/budget.h"
#include "bapi/study/history.h"

// What the budget and the deadline of a study still allow to be trained: the only place where a run's limits are
// computed. (What repeats of finalists may cost is study/repeats.h.) Pure functions.
namespace bapi {

// Why a study ends, or nothing further is begun; see kNoEpochPayable (budget.h) as well.
inline constexpr const char* kBudgetSpent = "the budget is spent";
inline constexpr const char* kNextEpochDoesNotFit = "the next epoch is not expected to fit the budget";
inline constexpr const char* kDeadlineReached = "the deadline is reached";
inline constexpr const char* kFinalistsRepeated = "the finalists were trained again";

// How far a budget in seconds may be exceeded, per worker: programs are killed when it ends, grace periods included, by
// this process or by its guardian, whoever gets a processor first. What is killed trains no more, so that what the
// machine needs to take it down is not charged.
inline constexpr double kKillLatency = 0.1;  // seconds

struct StudyTime {
  double started_at = 0.0;  // the deadline counts from here
  double now = 0.0;
};

// ---- Epochs. `trial` is nullptr for a new one.

// What the next epoch of a trial is taken to cost: 1 where epochs are counted; where costs are reported, the largest
// of the trial so far, or of the study for a trial without an epoch. nullopt: nothing is known yet, or time is the
// cost, which is limited as it passes.
std::optional<Cost> epoch_reserve(const History& history, const Trial* trial);

// The last epoch up to `wanted` that the budget is expected to pay. In seconds all of them: the loop ends what runs.
// Only where a part of the budget is reserved for repeats, epochs are taken to cost what they do on average.
Epoch payable_until(const History& history, const Trial* trial, Epoch wanted);

// The last epoch that a running trial may train to should it be chosen again; at least the end of its segment. In
// seconds an epoch may turn out as cheap as the trial's cheapest so far.
Epoch last_payable_epoch(const History& history, const Trial& trial);

// What is set aside for a segment: `predicted`, or what its epochs are taken to cost; it keeps other workers from
// planning with the same money.
Cost reservation(const History& history, const Trial* trial, Epoch until, Cost predicted);

// The facts that the budget pays for. Counted epochs that it cannot pay, because a program ran ahead of its segment,
// are left out, so `spent` never passes the total. Reported costs are known only afterwards: what was in progress when
// the budget was spent is kept, one charge per trial (History::overdrawn() have had theirs), so that the total is
// exceeded by at most one epoch per worker. Measured time is kept, whatever it comes to.
std::vector<Event> payable_facts(const History& history, std::span<const Event> facts);

// What facts charge, all together.
Cost charged_by(std::span<const Event> facts);

// Whether a further epoch of a trial is expected to fit, besides what runs: for those who cannot end it half-way.
bool next_epoch_fits(const History& history, const Trial& trial, const Running& running);

// ---- Time.

// Why everything that runs has to end now, grace periods included; nullopt if it has not, or the study has ended.
std::optional<std::string> end_due(const History& history, const Running& running, const StudyTime& time);

// The same for those who end between epochs only: no grace period is paid for.
std::optional<std::string> end_due_between_epochs(const History& history, const StudyTime& time);

// Seconds until budget or deadline make an end due; 0 or more, large if nothing does.
double seconds_to_end(const History& history, const Running& running, const StudyTime& time);

// Seconds of training that the budget pays from now on, all processes together, with grace periods set aside. Infinite
// unless time is the cost.
double training_seconds_left(const History& history, const Running& running);

// The same, grace periods included: what then still runs has to be killed.
double most_training_seconds_left(const History& history, const Running& running);

// Seconds until the budget is spent at `running.rate`, or the deadline reached: for displays. nullopt: not known.
std::optional<double> seconds_left(const History& history, const Running& running, const StudyTime& time);

// ---- Failures.

// Whether the study gives up. Failures of earlier runs do not count: the user has started it again, so something was
// changed.
bool too_many_failures(const History& history, int failures_before);
std::string failure_advice(const History& history);

}  // namespace bapi
