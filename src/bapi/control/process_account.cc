#include "bapi/control/process_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/match.h"

namespace bapi {
namespace {

// What an epoch of the trial usually costs: the lower quartile. The median will not do, because the first epoch of
// every process that does not say when it is ready has its start-up in it, and a trial may consist of few others.
Cost usual(std::vector<Cost> costs) {
  if (costs.empty()) return 0.0;
  const auto quartile = costs.begin() + (std::ssize(costs) - 1) / 4;
  std::nth_element(costs.begin(), quartile, costs.end());
  return *quartile;
}

}  // namespace

TrialProgress progress_of(const Trial& trial) {
  TrialProgress progress;
  for (const Measurement& m : trial.curve.points()) progress.epoch_costs.push_back(m.cost);
  progress.spent = trial.spent();
  return progress;
}

ProcessAccount::ProcessAccount(const StudySpec& spec, TrialProgress& progress, const Opening& opening)
    : spec_(spec),
      progress_(progress),
      trial_(opening.trial),
      from_(opening.from),
      max_epoch_(opening.max_epoch),
      charged_until_(opening.charged_until),
      reported_(opening.reported),
      training_(opening.training),
      usual_epoch_(usual(progress.epoch_costs)) {}

Reading ProcessAccount::take(const ReportLine& report, double at, std::vector<Event>& facts) {
  return std::visit(
      Match{[&](const EpochReport& epoch) { return take_epoch(epoch, at, facts); },
            [&](const ReadyReport&) {
              if (reported_ == 0) start_up_over(at, facts);
              return Reading{};
            },
            [](const WrongReport& wrong) { return Reading{.kind = Reading::Kind::failure, .message = wrong.message}; },
            [](const NoReport&) { return Reading{.kind = Reading::Kind::ignored}; }},
      report);
}

Reading ProcessAccount::take_epoch(const EpochReport& report, double at, std::vector<Event>& facts) {
  if (marks_start(report)) {
    start_up_over(at, facts);
    return {};
  }
  if (report.epoch == reported_) return {.kind = Reading::Kind::ignored};
  if (progress_.last_epoch() >= max_epoch_ && report.epoch > progress_.last_epoch()) {
    return {.kind = Reading::Kind::beyond};
  }
  if (const std::string wrong = mistake(report); !wrong.empty()) {
    if (report.epoch <= progress_.last_epoch() + 1) overhead(OverheadKind::failed, report.epoch, price(report), facts);
    return {.kind = Reading::Kind::failure, .message = wrong};
  }

  const bool timed = spec_.budget.meter == Meter::seconds;
  const Cost cost = timed ? charge_interval(report.epoch, at, facts) : price(report);
  reported_ = report.epoch;
  training_ = true;
  if (report.epoch <= progress_.last_epoch()) {
    overhead(OverheadKind::repeat, report.epoch, cost, facts);
    return {};
  }
  facts.emplace_back(
      Measured{.trial = trial_, .measurement = {.epoch = report.epoch, .value = *report.value, .cost = cost}});
  progress_.epoch_costs.push_back(cost);
  progress_.spent += cost;
  return {};
}

// The state it begins from, reported before any epoch: of its checkpoint, or untrained.
bool ProcessAccount::marks_start(const EpochReport& report) const {
  return reported_ == 0 && (report.epoch == from_ || report.epoch == 0);
}

// Why the trial cannot go on with a report; empty if it can.
std::string ProcessAccount::mistake(const EpochReport& report) const {
  const std::string& metric = spec_.metric.name;
  const Epoch next = progress_.last_epoch() + 1;
  if (report.epoch < 1) return fmt::format("reported epoch {}; epochs count from 1: {}", report.epoch, report.text);
  if (report.epoch > next && reported_ == 0 && from_ > 0) {
    return fmt::format(
        "was to continue after epoch {}, but reported epoch {} first: {}. Its checkpoint was ahead of its reports: on "
        "start, report the epoch of the checkpoint again if it is past BAPI_FROM_EPOCH",
        from_,
        report.epoch,
        report.text);
  }
  if (report.epoch > next) {
    return fmt::format("reported epoch {} where epoch {} was expected: {}; every epoch must be reported",
                       report.epoch,
                       next,
                       report.text);
  }
  if (!report.value) return fmt::format("the report {} has no \"{}\"", report.text, metric);
  if (!std::isfinite(*report.value)) {
    return fmt::format("diverged: \"{}\" is {} at epoch {}", metric, *report.value, report.epoch);
  }
  if (spec_.budget.meter != Meter::reported) return "";
  if (!report.cost) {
    return fmt::format(
        "the report {} has no \"cost\", but the budget is in {}, which bapi cannot measure: report "
        "{{\"epoch\": {}, \"{}\": {}, \"cost\": <{} of this epoch>}}",
        report.text,
        spec_.budget.unit,
        report.epoch,
        metric,
        *report.value,
        spec_.budget.unit);
  }
  if (!std::isfinite(*report.cost) || *report.cost < 0.0) {
    return fmt::format("the report {} has \"cost\": {}; expected the {} of this epoch, 0 or more",
                       report.text,
                       *report.cost,
                       spec_.budget.unit);
  }
  return "";
}

Cost ProcessAccount::price(const EpochReport& report) const {
  switch (spec_.budget.meter) {
    case Meter::epochs:
      return 1.0;
    case Meter::reported:
      return report.cost && std::isfinite(*report.cost) ? std::max(0.0, *report.cost) : 0.0;
    case Meter::seconds:
      return 0.0;
  }
  return 0.0;
}

// The cost of the interval that ends with the report of `epoch`, less what of it was start-up.
Cost ProcessAccount::charge_interval(Epoch epoch, double at, std::vector<Event>& facts) {
  const Cost interval = spec_.budget.of_seconds(std::max(0.0, at - charged_until_));
  charged_until_ = std::max(at, charged_until_);
  if (training_ || usual_epoch_ <= 0.0 || interval <= usual_epoch_) return interval;
  overhead(OverheadKind::start_up, epoch, interval - usual_epoch_, facts);
  return usual_epoch_;
}

void ProcessAccount::start_up_over(double at, std::vector<Event>& facts) {
  if (training_) return;
  training_ = true;
  if (spec_.budget.meter != Meter::seconds) return;
  overhead(OverheadKind::start_up, from_ + 1, spec_.budget.of_seconds(std::max(0.0, at - charged_until_)), facts);
  charged_until_ = std::max(at, charged_until_);
}

void ProcessAccount::close(OverheadKind kind, double at, std::vector<Event>& facts) {
  if (spec_.budget.meter != Meter::seconds || at <= charged_until_) return;
  overhead(kind, progress_.last_epoch() + 1, spec_.budget.of_seconds(at - charged_until_), facts);
  charged_until_ = at;
}

void ProcessAccount::overhead(OverheadKind kind, Epoch epoch, Cost cost, std::vector<Event>& facts) {
  if (cost <= 0.0) return;
  facts.emplace_back(Overhead{.trial = trial_, .kind = kind, .epoch = epoch, .cost = cost});
  progress_.spent += cost;
}

}  // namespace bapi
