#include "bapi/study/lifecycle.h"

#include <fmt/format.h>

#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

namespace bapi {
namespace {

using Objection = std::optional<std::string>;

bool is_cost(Cost cost) { return std::isfinite(cost) && cost >= 0.0; }

Objection bad_cost(Cost cost) {
  if (is_cost(cost)) return std::nullopt;
  return fmt::format("its cost is {}; expected a finite number, 0 or more", cost);
}

Objection not_resumable(const TrialStage& trial, std::string_view done) {
  if (trial.resumable()) return std::nullopt;
  return fmt::format("it is {}; only a paused trial can be {}", to_string(trial.state), done);
}

// A policy stops what is paused; users also stop what is being trained, which closes its segment.
Objection bad_stop(const TrialStage& trial, const Reason& why) {
  if (trial.until && why.rule == Rule::asked_for_by_user) return std::nullopt;
  return not_resumable(trial, "stopped");
}

Objection bad_segment(const TrialStage& trial, Epoch until, Epoch max_epoch) {
  if (until > trial.last_epoch && until <= max_epoch) return std::nullopt;
  return fmt::format("a segment to epoch {} cannot follow epoch {} of {}", until, trial.last_epoch, max_epoch);
}

// A trial may run ahead of its segment, and report once more while it is being ended: these epochs are facts as well.
Objection bad_measurement(const TrialStage& trial, const Measurement& m, Epoch max_epoch) {
  if (trial.state == TrialState::failed) return "a failed trial cannot report";
  // A process that was lost with its machine may have saved any number of epochs that nobody has heard of.
  const Epoch unreported = trial.state == TrialState::interrupted ? max_epoch : kMostUnreported;
  if (m.epoch <= trial.last_epoch || m.epoch > trial.last_epoch + 1 + unreported) {
    return fmt::format("epoch {} cannot follow epoch {}", m.epoch, trial.last_epoch);
  }
  if (m.epoch > max_epoch) return fmt::format("epoch {} lies past the last one, {}", m.epoch, max_epoch);
  if (!std::isfinite(m.value)) return fmt::format("its value is {}; expected a finite number", m.value);
  return bad_cost(m.cost);
}

Objection bad_overhead(const TrialStage& trial, const Overhead& overhead, Epoch max_epoch) {
  const bool unreported = overhead.kind == OverheadKind::unreported;
  if (unreported && (overhead.epoch <= trial.last_epoch || overhead.epoch > max_epoch)) {
    return fmt::format(
        "epoch {} cannot be unreported after epoch {} of {}", overhead.epoch, trial.last_epoch, max_epoch);
  }
  return bad_cost(overhead.cost);
}

Objection no_open_segment(const TrialStage& trial, std::string_view done) {
  if (trial.until) return std::nullopt;
  return fmt::format("it is {}; only an open segment can be {}", to_string(trial.state), done);
}

Objection not_done(const TrialStage& trial) {
  if (Objection closed = no_open_segment(trial, "done")) return closed;
  if (trial.last_epoch >= *trial.until) return std::nullopt;
  return fmt::format("its segment to epoch {} is not done at epoch {}", *trial.until, trial.last_epoch);
}

Objection bad_retry(const TrialStage& trial, const TrialRetried& retry, Epoch max_epoch) {
  if (trial.until) return std::nullopt;
  if (trial.state == TrialState::failed) return bad_segment(trial, retry.until, max_epoch);
  return fmt::format("it is {}; only a trial that failed can be retried", to_string(trial.state));
}

TrialStage closed(const TrialStage& trial, TrialState state) {
  return {.state = state, .last_epoch = trial.last_epoch};
}

TrialStage measured(TrialStage trial, Epoch epoch, Epoch max_epoch) {
  trial.last_epoch = epoch;
  if (trial.until) {
    trial.state = TrialState::running;  // an interrupted segment continues
  } else if (trial.state == TrialState::paused && epoch == max_epoch) {
    trial.state = TrialState::completed;
  }
  return trial;
}

TrialStage opened(const TrialStage& trial, Epoch until) {
  return {.state = TrialState::running, .until = until, .last_epoch = trial.last_epoch};
}

TrialStage with_state(TrialStage trial, TrialState state) {
  trial.state = state;
  return trial;
}

}  // namespace

std::string_view to_string(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "running";
    case TrialState::interrupted:
      return "interrupted";
    case TrialState::paused:
      return "paused";
    case TrialState::completed:
      return "completed";
    case TrialState::stopped:
      return "stopped";
    case TrialState::failed:
      return "failed";
  }
  throw LogicError("to_string: unknown trial state");
}

std::optional<std::string> TrialStage::objection(const Event& event, Epoch max_epoch) const {
  return std::visit(Match{[&](const TrialStarted& e) { return bad_segment(*this, e.until, max_epoch); },
                          [&](const TrialResumed& e) {
                            const Objection waiting = not_resumable(*this, "resumed");
                            return waiting ? waiting : bad_segment(*this, e.until, max_epoch);
                          },
                          [&](const TrialStopped& e) { return bad_stop(*this, e.why); },
                          [&](const Measured& e) { return bad_measurement(*this, e.measurement, max_epoch); },
                          [&](const SegmentDone&) { return not_done(*this); },
                          [&](const ProgramEnded&) {
                            return last_epoch > 0 ? Objection()
                                                  : "its program cannot end in order before its first epoch";
                          },
                          [&](const TrialFailed&) {
                            if (until || state == TrialState::paused) return Objection();
                            return Objection(fmt::format("it is {} and cannot fail any more", to_string(state)));
                          },
                          [&](const Interrupted&) { return no_open_segment(*this, "interrupted"); },
                          [&](const Overhead& e) { return bad_overhead(*this, e, max_epoch); },
                          [](const StudyFinished&) { return Objection(); },
                          [](const BudgetChanged&) { return Objection(); },
                          [&](const TrialRetried& e) { return bad_retry(*this, e, max_epoch); },
                          [](const SettingsChanged&) { return Objection(); },
                          [](const ConfigEnqueued&) { return Objection(); }},
                    event);
}

TrialStage TrialStage::after(const Event& event, Epoch max_epoch) const {
  return std::visit(Match{[&](const TrialStarted& e) { return opened(*this, e.until); },
                          [&](const TrialResumed& e) { return opened(*this, e.until); },
                          [&](const TrialStopped&) { return closed(*this, TrialState::stopped); },
                          [&](const Measured& e) { return measured(*this, e.measurement.epoch, max_epoch); },
                          [&](const SegmentDone&) {
                            return closed(*this, last_epoch >= max_epoch ? TrialState::completed : TrialState::paused);
                          },
                          [&](const ProgramEnded&) {
                            const bool ends = until || state == TrialState::paused;
                            return closed(*this, ends ? TrialState::completed : state);
                          },
                          [&](const TrialFailed&) { return closed(*this, TrialState::failed); },
                          [&](const Interrupted&) { return with_state(*this, TrialState::interrupted); },
                          [&](const Overhead&) { return *this; },
                          [&](const StudyFinished&) { return *this; },
                          [&](const BudgetChanged&) { return *this; },
                          [&](const TrialRetried& e) {
                            return until ? *this : with_state(opened(*this, e.until), TrialState::interrupted);
                          },
                          [&](const SettingsChanged&) { return *this; },
                          [&](const ConfigEnqueued&) { return *this; }},
                    event);
}

}  // namespace bapi
