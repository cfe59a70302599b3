#include "bapi/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/report/describe.h"
#include "bapi/report/reasons.h"

namespace bapi {

namespace {

CostKind kind_of(OverheadKind kind) {
  switch (kind) {
    case OverheadKind::start_up:
      return CostKind::start_up;
    case OverheadKind::repeat:
      return CostKind::repeat;
    case OverheadKind::grace:
      return CostKind::grace;
    case OverheadKind::failed:
      return CostKind::failed;
  }
  throw LogicError("unknown kind of overhead");
}

std::optional<Charge> charge_of(const StoredEvent& stored) {
  if (const Measured* fact = std::get_if<Measured>(&stored.event)) {
    return Charge{.seq = stored.seq,
                  .trial = fact->trial,
                  .epoch = fact->measurement.epoch,
                  .kind = CostKind::epoch,
                  .cost = fact->measurement.cost};
  }
  if (const Overhead* fact = std::get_if<Overhead>(&stored.event)) {
    return Charge{
        .seq = stored.seq, .trial = fact->trial, .epoch = fact->epoch, .kind = kind_of(fact->kind), .cost = fact->cost};
  }
  return std::nullopt;
}

Cell best_of_curve(const History& history, const Trial& trial) {
  return trial.curve.empty() ? Cell() : Cell(history.in_user_units(trial.curve.best()));
}

// The name of an event in listings, and until which epoch it lets a trial train.
struct Entry {
  std::string_view name;
  Cell until = {};
  std::string why = {};
};

Entry entry_of(const Event& event) {
  return std::visit(Match{[](const TrialStarted& e) {
                            return Entry{"start", e.until, in_brief(e.why)};
                          },
                          [](const TrialResumed& e) {
                            return Entry{"resume", e.until, in_brief(e.why)};
                          },
                          [](const TrialStopped& e) {
                            return Entry{"stop", {}, in_brief(e.why)};
                          },
                          [](const StudyFinished& e) {
                            return Entry{"finish", {}, e.reason};
                          },
                          [](const Measured&) { return Entry{"measured"}; },
                          [](const SegmentDone&) { return Entry{"segment done"}; },
                          [](const ProgramEnded&) { return Entry{"program ended"}; },
                          [](const TrialFailed& e) {
                            return Entry{"failed", {}, e.message};
                          },
                          [](const Interrupted& e) {
                            return Entry{"interrupted", {}, e.reason};
                          },
                          [](const Overhead& e) { return Entry{word(e.kind)}; },
                          [](const BudgetChanged& e) {
                            return Entry{"budget", {}, fmt::format("total is now {}", e.total)};
                          }},
                    event);
}

bool is_charge(const Event& event) {
  return std::holds_alternative<Measured>(event) || std::holds_alternative<Overhead>(event);
}

}  // namespace

std::vector<Charge> ledger(std::span<const StoredEvent> events) {
  std::vector<Charge> charges;
  std::map<TrialId, Epoch> decided;  // the end of the trial's last segment
  for (const StoredEvent& stored : events) {
    if (const auto* started = std::get_if<TrialStarted>(&stored.event)) decided[started->trial] = started->until;
    if (const auto* resumed = std::get_if<TrialResumed>(&stored.event)) decided[resumed->trial] = resumed->until;
    std::optional<Charge> charge = charge_of(stored);
    if (!charge) continue;
    if (charge->kind == CostKind::epoch && charge->epoch > decided[charge->trial]) charge->kind = CostKind::ahead;
    charges.push_back(*charge);
  }
  return charges;
}

Spending spending(std::span<const Charge> charges) {
  Spending sums{};
  for (const Charge& charge : charges) sums[static_cast<std::size_t>(charge.kind)] += charge.cost;
  return sums;
}

std::vector<Spending> spending_by_trial(std::span<const Charge> charges, std::size_t trials) {
  std::vector<Spending> sums(trials, Spending{});
  for (const Charge& charge : charges) {
    sums.at(static_cast<std::size_t>(index(charge.trial)))[static_cast<std::size_t>(charge.kind)] += charge.cost;
  }
  return sums;
}

TrialState shown_state(const Trial& trial, Controller controller) {
  const bool running = trial.state == TrialState::running;
  return running && controller == Controller::absent ? TrialState::interrupted : trial.state;
}

TrialCounts count_trials(const History& history, Controller controller) {
  TrialCounts counts;
  for (const Trial& trial : history.trials()) {
    switch (shown_state(trial, controller)) {
      case TrialState::running:
        ++counts.running;
        break;
      case TrialState::interrupted:
        ++counts.interrupted;
        break;
      case TrialState::paused:
        ++counts.paused;
        break;
      case TrialState::completed:
        ++counts.completed;
        break;
      case TrialState::stopped:
        ++counts.stopped;
        break;
      case TrialState::failed:
        ++counts.failed;
        break;
    }
  }
  return counts;
}

std::string_view study_state(const History& history, Controller controller) {
  if (controller == Controller::present) return "running";
  if (history.finished()) return "finished";
  return history.decisions() == 0 ? "new" : "interrupted";
}

Cell best_cell(const History& history, const std::string& checkpoint) {
  const std::optional<Best> found = best(history);
  if (!found) return {};
  return Fields{{"trial", index(found->trial)},
                {"epoch", found->epoch},
                {"value", found->value},
                {"config", fields_of(found->config, history.spec().space)},
                {"checkpoint", checkpoint.empty() ? Cell() : Cell(checkpoint)}};
}

Fields status_record(const History& history, Controller controller, const std::string& best_checkpoint) {
  const Budget budget = history.budget();
  const TrialCounts counts = count_trials(history, controller);
  return {{"name", history.spec().name},
          {"policy", history.spec().policy.name},
          {"state", study_state(history, controller)},
          {"budget",
           Fields{{"total", budget.total()},
                  {"spent", budget.spent()},
                  {"remaining", std::max(0.0, budget.total() - budget.spent())},
                  {"unit", history.spec().budget.unit}}},
          {"trials",
           Fields{{"running", counts.running},
                  {"interrupted", counts.interrupted},
                  {"paused", counts.paused},
                  {"completed", counts.completed},
                  {"stopped", counts.stopped},
                  {"failed", counts.failed}}},
          {"best", best_cell(history, best_checkpoint)}};
}

Table trials_table(const History& history, Controller controller) {
  Table table({"trial", "state", "epochs", "best", "spent", "config"});
  for (const Trial& trial : history.trials()) {
    table.add({index(trial.id),
               to_string(shown_state(trial, controller)),
               trial.curve.last_epoch(),
               best_of_curve(history, trial),
               trial.spent(),
               fields_of(trial.config, history.spec().space)});
  }
  return table;
}

Table ledger_table(std::span<const StoredEvent> events) {
  Table table({"seq", "trial", "epoch", "kind", "cost"});
  for (const Charge& charge : ledger(events)) {
    table.add({charge.seq, index(charge.trial), charge.epoch, word(charge.kind), charge.cost});
  }
  return table;
}

Table curve_table(const History& history, TrialId trial) {
  Table table({"epoch", "value", "cost"});
  for (const Measurement& point : history.trial(trial).curve.points()) {
    table.add({point.epoch, history.in_user_units(point.value), point.cost});
  }
  return table;
}

Table decisions_table(std::span<const StoredEvent> events) {
  Table table({"seq", "at", "trial", "event", "until", "why"});
  for (const StoredEvent& stored : events) {
    if (is_charge(stored.event)) continue;
    const Entry entry = entry_of(stored.event);
    const std::optional<TrialId> trial = trial_of(stored.event);
    table.add({stored.seq, stored.at, trial ? Cell(index(*trial)) : Cell(), entry.name, entry.until, entry.why});
  }
  return table;
}

}  // namespace bapi
