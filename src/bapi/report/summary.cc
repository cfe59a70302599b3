#include "bapi/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/report/describe.h"
#include "bapi/report/reasons.h"
#include "bapi/report/text.h"
#include "bapi/study/repeats.h"

namespace bapi {

namespace {

CostKind kind_of(OverheadKind kind) {
  switch (kind) {
    case OverheadKind::start_up:
      return CostKind::start_up;
    case OverheadKind::repeat:
      return CostKind::repeat;
    case OverheadKind::unfinished:
      return CostKind::unfinished;
    case OverheadKind::grace:
      return CostKind::grace;
    case OverheadKind::failed:
      return CostKind::failed;
    case OverheadKind::unreported:
      return CostKind::unreported;
    case OverheadKind::snapshot:
      return CostKind::snapshot;
    case OverheadKind::lost:
      return CostKind::lost;
  }
  throw LogicError("unknown kind of overhead");
}

std::optional<Charge> charge_of(const StoredEvent& stored) {
  const std::optional<TrialCharge> charge = charge_in(stored.event);
  if (!charge) return std::nullopt;
  const auto* overhead = std::get_if<Overhead>(&stored.event);
  return Charge{.seq = stored.seq,
                .trial = charge->trial,
                .epoch = charge->epoch,
                .kind = overhead ? kind_of(overhead->kind) : CostKind::epoch,
                .cost = charge->cost};
}

Cell best_of_curve(const History& history, const Trial& trial) {
  return trial.curve.empty() ? Cell() : Cell(history.in_user_units(trial.curve.best()));
}

// Of which trial it is a repeat, or what the trainings of its configuration came to.
std::vector<Cell> repeat_cells(const History& history, const Trial& trial) {
  if (trial.assignment.repeat) return {index(trial.assignment.repeat->of), {}, {}, {}};
  const std::optional<Standing> standing = standing_of(history, trial.id);
  if (!standing || standing->trainings < 2) return {{}, {}, {}, {}};
  return {{}, standing->trainings, history.in_user_units(standing->mean), *standing->standard_error};
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
                          },
                          [](const TrialRetried& e) {
                            return Entry{"retry", {}, e.reason};
                          },
                          [](const SettingsChanged& e) {
                            return Entry{"settings", {}, text_of(e)};
                          },
                          [](const ConfigEnqueued& e) {
                            return Entry{"enqueue", {}, "requested by " + e.by};
                          }},
                    event);
}

// Which studies a warm start has learned from.
Cell earlier_cell(const std::vector<EarlierStudy>& earlier) {
  std::vector<Cell> studies;
  for (const EarlierStudy& study : earlier) {
    studies.emplace_back(Fields{{"study", study.place.empty() ? study.name : study.place},
                                {"trials", std::ssize(study.trials)},
                                {"left_out", study.left_out}});
  }
  return Cell(std::move(studies));
}

}  // namespace

std::vector<Charge> ledger(std::span<const StoredEvent> events) {
  std::vector<Charge> charges;
  LedgerReader reader;
  for (const StoredEvent& stored : events) {
    if (const std::optional<Charge> charge = reader.take(stored)) charges.push_back(*charge);
  }
  return charges;
}

std::optional<Charge> LedgerReader::take(const StoredEvent& stored) {
  if (const auto* started = std::get_if<TrialStarted>(&stored.event)) decided_[started->trial] = started->until;
  if (const auto* resumed = std::get_if<TrialResumed>(&stored.event)) decided_[resumed->trial] = resumed->until;
  std::optional<Charge> charge = charge_of(stored);
  if (charge && charge->kind == CostKind::epoch && charge->epoch > decided_[charge->trial]) {
    charge->kind = CostKind::ahead;
  }
  return charge;
}

Spending spending(std::span<const Charge> charges) {
  Spending sums{};
  for (const Charge& charge : charges) sums[static_cast<std::size_t>(charge.kind)] += charge.cost;
  return sums;
}

Cost training_of(const Spending& sums) {
  Cost training = 0.0;
  for (const CostKind kind : kCostKinds) {
    if (is_training(kind)) training += sums[static_cast<std::size_t>(kind)];
  }
  return training;
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

std::string mean_text(double mean, const std::optional<double>& standard_error) {
  if (!standard_error) return short_number(mean);
  return fmt::format("{} ± {}", short_number(mean), fmt::format("{:.2g}", *standard_error));
}

std::string value_text(const Best& found) { return mean_text(found.value, found.standard_error); }

Cell best_cell(const History& history, const ModelFiles& model) {
  const std::optional<Best> found = best(history);
  if (!found) return {};
  Fields fields = {{"trial", index(found->trial)},
                   {"epoch", found->epoch},
                   {"value", found->value},
                   {"config", fields_of(found->config, history.spec().space)},
                   {"checkpoint", model.path.empty() ? Cell() : Cell(model.path)},
                   {"checkpoint_epoch", model.epoch ? Cell(*model.epoch) : Cell()},
                   {"checkpoint_note", model.note.empty() ? Cell() : Cell(model.note)}};
  if (history.spec().repeat < 2 && history.repeats().empty()) return fields;
  fields.emplace_back("standard_error", found->standard_error ? Cell(*found->standard_error) : Cell());
  fields.emplace_back("trainings", found->trainings);
  fields.emplace_back("trial_value", found->trial_value);
  return fields;
}

Fields provenance_record(const Provenance& provenance) {
  return {{"host", provenance.host},
          {"system", provenance.system},
          {"bapi", provenance.bapi},
          {"python", provenance.python},
          {"commit", provenance.commit},
          {"dirty", provenance.dirty ? Cell(*provenance.dirty) : Cell()}};
}

Fields status_record(const History& history, Controller controller, const ModelFiles& model) {
  const Budget budget = history.budget();
  const TrialCounts counts = count_trials(history, controller);
  return {{"name", history.spec().name},
          {"policy", history.spec().policy.name},
          {"state", study_state(history, controller)},
          {"budget",
           Fields{{"total", budget.total()},
                  {"spent", budget.spent()},
                  {"remaining", std::max(0.0, budget.unspent())},
                  {"unit", history.spec().budget.unit}}},
          {"trials",
           Fields{{"running", counts.running},
                  {"interrupted", counts.interrupted},
                  {"paused", counts.paused},
                  {"completed", counts.completed},
                  {"stopped", counts.stopped},
                  {"failed", counts.failed}}},
          {"enqueued", std::ssize(history.wishes()) - history.next_wish().value_or(std::ssize(history.wishes()))},
          {"best", best_cell(history, model)},
          {"from", earlier_cell(history.spec().earlier)},
          {"provenance", provenance_record(history.spec().provenance)}};
}

Table trials_table(const History& history, Controller controller) {
  std::vector<std::string> columns = {"trial", "state", "epochs", "best", "spent", "config"};
  const bool repeats = !history.repeats().empty();
  if (repeats) columns.insert(columns.end(), {"repeat_of", "trainings", "mean", "standard_error"});
  Table table(columns);
  for (const Trial& trial : history.trials()) {
    std::vector<Cell> row = {index(trial.id),
                             to_string(shown_state(trial, controller)),
                             trial.curve.last_epoch(),
                             best_of_curve(history, trial),
                             trial.spent(),
                             fields_of(trial.config, history.spec().space)};
    if (repeats) {
      for (Cell& cell : repeat_cells(history, trial)) row.push_back(std::move(cell));
    }
    table.add(std::move(row));
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

Fields other_metrics(const Trial& trial, Epoch epoch) {
  Fields fields;
  const auto found = trial.others.find(epoch);
  if (found == trial.others.end()) return fields;
  for (const auto& [name, value] : found->second) fields.emplace_back(name, value);
  return fields;
}

// Without other metrics there is no column for them.
Table curve_table(const History& history, TrialId id) {
  const Trial& trial = history.trial(id);
  std::vector<std::string> columns = {"epoch", "value", "cost"};
  const bool smoothed = history.spec().metric.smooth > 1;
  if (smoothed) columns.emplace_back("smoothed");
  if (!trial.others.empty()) columns.emplace_back("metrics");
  Table table(columns);
  for (const Measurement& point : trial.curve.reports()) {
    std::vector<Cell> row = {point.epoch, history.in_user_units(point.value), point.cost};
    if (smoothed) row.emplace_back(history.in_user_units(trial.curve.find(point.epoch)->value));
    if (!trial.others.empty()) row.emplace_back(other_metrics(trial, point.epoch));
    table.add(std::move(row));
  }
  return table;
}

Table decisions_table(std::span<const StoredEvent> events) {
  Table table({"seq", "at", "trial", "event", "until", "why"});
  for (const StoredEvent& stored : events) {
    if (charge_in(stored.event)) continue;
    const Entry entry = entry_of(stored.event);
    const std::optional<TrialId> trial = trial_of(stored.event);
    table.add({stored.seq, stored.at, trial ? Cell(index(*trial)) : Cell(), entry.name, entry.until, entry.why});
  }
  return table;
}

}  // namespace bapi
