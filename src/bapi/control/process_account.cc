#include "bapi/control/process_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "bapi/base/match.h"

namespace bapi {
namespace {

double settled_until(const CostSource& cost) {
  return std::visit([](const auto& source) { return source.until; }, cost);
}

}  // namespace

Cost usual_epoch_cost(const Curve& curve) {
  if (curve.empty()) return 0.0;
  std::vector<Cost> costs;
  for (const Measurement& m : curve.points()) costs.push_back(m.cost);
  const auto quartile = costs.begin() + (std::ssize(costs) - 1) / 4;
  std::nth_element(costs.begin(), quartile, costs.end());
  return *quartile;
}

ProcessAccount::Opening ProcessAccount::Opening::of(const Segment& segment, Epoch from, double now) {
  return {.trial = segment.trial,
          .last_epoch = segment.from,
          .paid = segment.paid,
          .usual_epoch = segment.usual_epoch,
          .spent = segment.spent,
          .from = from,
          .continued = segment.continued,
          .most_unreported = segment.most_unreported,
          .max_epoch = segment.max_epoch,
          .charged_until = now};
}

ProcessAccount::ProcessAccount(const StudySpec& spec, const Opening& opening)
    : spec_(spec),
      trial_(opening.trial),
      last_epoch_(opening.last_epoch),
      paid_(std::max(opening.paid, opening.last_epoch)),
      usual_epoch_(opening.usual_epoch),
      spent_(opening.spent),
      from_(opening.from),
      continued_(opening.continued || opening.from > 0),
      most_unreported_(opening.most_unreported),
      max_epoch_(opening.max_epoch),
      charged_until_(opening.charged_until),
      reported_(opening.reported),
      training_(opening.training) {}

void ProcessAccount::continue_from(Epoch last_epoch, Epoch paid, Cost spent) {
  last_epoch_ = last_epoch;
  paid_ = std::max(paid, last_epoch);
  spent_ = spent;
}

Reading ProcessAccount::take(const ReportLine& report, double at) {
  return std::visit(
      Match{[&](const EpochReport& epoch) { return take_epoch(epoch, MeasuredTime{at}); },
            [&](const ReadyReport&) { return reported_ == 0 ? Reading{.facts = start_up_over(at)} : Reading{}; },
            [](const WrongReport& wrong) {
              return Reading{
                  .kind = Reading::Kind::failure, .message = wrong.message, .cause = FailureCause::wrong_report};
            },
            [](const NoReport&) { return Reading{.kind = Reading::Kind::ignored}; }},
      report);
}

Reading ProcessAccount::take_epoch(const EpochReport& report, const CostSource& cost) {
  if (marks_start(report)) return {.facts = start_up_over(settled_until(cost))};
  if (report.epoch == reported_) return {.kind = Reading::Kind::ignored};
  if (is_beyond(report)) return {.kind = Reading::Kind::beyond};
  if (const std::string wrong = mistake(report); !wrong.empty()) {
    return {.kind = Reading::Kind::failure,
            .message = wrong,
            .cause = is_divergence(report) ? FailureCause::diverged : FailureCause::wrong_report,
            .facts = charge_failure(report, cost)};
  }
  return {.facts = charge_epoch(report, cost)};
}

Epoch ProcessAccount::furthest_report() const {
  const bool first = continued_ && reported_ == 0;
  return last_epoch_ + 1 + (first ? most_unreported_ : 0);
}

// Of the expected epoch; an unexpected one is a mistake whatever its value.
bool ProcessAccount::is_divergence(const EpochReport& report) const {
  return report.epoch >= 1 && report.epoch <= furthest_report() && report.value && !std::isfinite(*report.value);
}

bool ProcessAccount::is_beyond(const EpochReport& report) const {
  if (report.epoch <= last_epoch_) return false;
  return last_epoch_ >= max_epoch_ || (report.epoch > spec_.epochs.max && report.epoch <= furthest_report());
}

std::vector<Event> ProcessAccount::charge_unreported(const EpochReport& report) {
  std::vector<Event> facts;
  for (Epoch epoch = std::max(paid_, last_epoch_) + 1; epoch < report.epoch; ++epoch) {
    std::ranges::move(overhead(OverheadKind::unreported, epoch, price(report)), std::back_inserter(facts));
    paid_ = epoch;
  }
  return facts;
}

// Time is charged when the process is gone.
std::vector<Event> ProcessAccount::charge_failure(const EpochReport& report, const CostSource& cost) {
  if (report.epoch > furthest_report()) return {};
  const auto* stated = std::get_if<StatedCost>(&cost);
  if (spec_.budget.meter != Meter::accrued || !stated) {
    std::vector<Event> facts = charge_unreported(report);
    std::ranges::move(overhead(OverheadKind::failed, report.epoch, price(report)), std::back_inserter(facts));
    return facts;
  }
  charged_until_ = std::max(stated->until, charged_until_);
  return overhead(OverheadKind::failed, report.epoch, stated->cost);
}

std::vector<Event> ProcessAccount::charge_epoch(const EpochReport& report, const CostSource& cost) {
  std::vector<Event> facts;
  Cost charge = price(report);
  if (spec_.budget.meter == Meter::accrued) {
    const double until = std::max(settled_until(cost), charged_until_);
    const auto* stated = std::get_if<StatedCost>(&cost);
    charge = stated ? stated->cost : spec_.budget.of_seconds(until - charged_until_);
    charged_until_ = until;
    if (!stated && !training_ && usual_epoch_ > 0.0 && charge > usual_epoch_) {
      facts = overhead(OverheadKind::start_up, report.epoch, charge - usual_epoch_);
      charge = usual_epoch_;
    }
  }
  reported_ = report.epoch;
  training_ = true;
  if (report.epoch <= last_epoch_) {
    std::ranges::move(overhead(OverheadKind::repeat, report.epoch, charge), std::back_inserter(facts));
    return facts;
  }
  std::ranges::move(charge_unreported(report), std::back_inserter(facts));
  Measured measured{.trial = trial_, .measurement = {.epoch = report.epoch, .value = *report.value, .cost = charge}};
  if (!report.others.empty()) measured.others = report.others;
  facts.emplace_back(std::move(measured));
  last_epoch_ = report.epoch;
  spent_ += charge;
  return facts;
}

// The state it begins from, reported before any epoch: of its checkpoint, or untrained.
bool ProcessAccount::marks_start(const EpochReport& report) const {
  return reported_ == 0 && (report.epoch == from_ || report.epoch == 0);
}

// Why the trial cannot go on with a report; empty if it can.
std::string ProcessAccount::mistake(const EpochReport& report) const {
  const std::string& metric = spec_.metric.name;
  const Epoch next = last_epoch_ + 1;
  if (report.epoch < 1) return fmt::format("reported epoch {}; epochs count from 1: {}", report.epoch, report.text);
  if (report.epoch > furthest_report() && reported_ == 0 && continued_) {
    return fmt::format(
        "was to continue after epoch {}, but reported epoch {} first: {}. Up to {} epochs may be saved and not "
        "reported when a program is ended; expected an epoch up to {}. Continue after BAPI_FROM_EPOCH, and report "
        "every epoch after saving it",
        from_,
        report.epoch,
        report.text,
        most_unreported_,
        furthest_report());
  }
  if (report.epoch > furthest_report()) {
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
  if (!is_chargeable(*report.cost)) {
    return fmt::format("the report {} has \"cost\": {}; expected the {} of this epoch, 0 or more and at most {:g}",
                       report.text,
                       *report.cost,
                       spec_.budget.unit,
                       kLargestCharge);
  }
  return "";
}

Cost ProcessAccount::price(const EpochReport& report) const {
  switch (spec_.budget.meter) {
    case Meter::epochs:
      return 1.0;
    case Meter::reported:
      return report.cost && is_chargeable(*report.cost) ? *report.cost : 0.0;
    case Meter::accrued:
      return 0.0;
  }
  return 0.0;
}

std::vector<Event> ProcessAccount::start_up_over(double at) {
  if (training_) return {};
  training_ = true;
  if (spec_.budget.meter != Meter::accrued) return {};
  const double until = std::max(at, charged_until_);
  const Cost cost = spec_.budget.of_seconds(until - charged_until_);
  charged_until_ = until;
  return overhead(OverheadKind::start_up, from_ + 1, cost);
}

std::vector<Event> ProcessAccount::close(OverheadKind kind, double at) {
  if (spec_.budget.meter != Meter::accrued || at <= charged_until_) return {};
  const Cost cost = spec_.budget.of_seconds(at - charged_until_);
  charged_until_ = at;
  return overhead(kind, last_epoch_ + 1, cost);
}

std::vector<Event> ProcessAccount::held_for(OverheadKind kind, double seconds) {
  return close(kind, charged_until_ + seconds);
}

std::vector<Event> ProcessAccount::overhead(OverheadKind kind, Epoch epoch, Cost cost) {
  if (cost <= 0.0) return {};
  spent_ += cost;
  return {Overhead{.trial = trial_, .kind = kind, .epoch = epoch, .cost = cost}};
}

}  // namespace bapi
