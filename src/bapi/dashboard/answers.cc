#include "bapi/dashboard/answers.h"

#include <algorithm>

#include "bapi/base/match.h"
#include "bapi/control/allowance.h"
#include "bapi/dashboard/chart_answers.h"
#include "bapi/dashboard/decision_answers.h"
#include "bapi/report/summary.h"
#include "bapi/studies/best_model.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/records.h"
#include "bapi/study/progress.h"

namespace bapi {
namespace {

constexpr std::size_t kSparkPoints = 60;

// ---- Parts of records

Cell spark_of(std::vector<double> values) {
  std::vector<Cell> cells;
  if (values.size() > kSparkPoints) {
    std::vector<double> few;
    for (std::size_t i = 0; i < kSparkPoints; ++i) few.push_back(values[i * (values.size() - 1) / (kSparkPoints - 1)]);
    values = std::move(few);
  }
  for (const double value : values) cells.emplace_back(value);
  return cells;
}

Cell spark_of(const History& history, const Trial& trial) {
  std::vector<double> values;
  for (const Measurement& point : trial.curve.points()) values.push_back(history.in_user_units(point.value));
  return spark_of(std::move(values));
}

double last_change(const ShownStudy& study) { return study.log.empty() ? 0.0 : study.log.changed(); }

Cell running_cell(const ShownStudy& study) {
  std::vector<Cell> list;
  if (study.controller == Controller::absent) return list;
  for (const TrialId id : study.history.open_trials()) {
    const Trial& trial = study.history.trial(id);
    if (trial.state != TrialState::running) continue;
    const bool reported = !trial.curve.empty();
    list.emplace_back(
        Fields{{"trial", index(id)},
               {"epochs", trial.curve.last_epoch()},
               {"until", trial.segment->until},
               {"best", reported ? Cell(study.history.in_user_units(trial.curve.best())) : Cell()},
               {"last", reported ? Cell(study.history.in_user_units(trial.curve.points().back().value)) : Cell()},
               {"since", study.log.last_seen(id)},
               {"spark", spark_of(study.history, trial)},
               {"config", fields_of(trial.config, study.spec().space)}});
  }
  return list;
}

// What is spent per second: known where time is the cost, else as it was since the first event.
double spending_rate(const ShownStudy& study, double now) {
  const BudgetSpec& budget = study.spec().budget;
  int running = 0;
  for (const TrialId id : study.history.open_trials()) {
    running += study.history.trial(id).state == TrialState::running ? 1 : 0;
  }
  if (budget.meter == Meter::accrued) return budget.of_seconds(1.0) * running;
  if (study.log.empty() || running == 0) return 0.0;
  const double elapsed = now - study.log.began();
  return elapsed > 0.0 ? study.history.budget().spent() / elapsed : 0.0;
}

Cell controller_cell(const std::optional<Leader>& leader) {
  if (!leader) return {};
  return Fields{{"host", leader->host}, {"pid", leader->pid}, {"since", leader->since ? Cell(*leader->since) : Cell()}};
}

Cell deadline_of(const ShownStudy& study) {
  const std::optional<double> began = study.log.first_decision_at();
  if (!study.spec().deadline || !began) return {};
  return *began + *study.spec().deadline;
}

// When budget or deadline end the study as it goes now, and what it then has left: something if the deadline comes
// first.
struct ExpectedEnd {
  Cell at = {};
  Cell left = {};
};

ExpectedEnd expected_end(const ShownStudy& study, double now) {
  if (study.controller == Controller::absent || study.history.finished()) return {};
  const double rate = spending_rate(study, now);
  // What was spent since the last event is not in the log yet.
  const Running running = {.accrued = rate * std::max(0.0, now - last_change(study)), .rate = rate};
  const StudyTime time = {.started_at = study.log.first_decision_at().value_or(now), .now = now};
  const std::optional<double> seconds = seconds_left(study.history, running, time);
  if (!seconds) return {};
  const Cost spent_by_then = running.accrued + rate * *seconds;
  return {.at = now + *seconds, .left = std::max(0.0, study.history.budget().unspent(spent_by_then))};
}

Cell value_cell(const Value& value) {
  return std::visit(Match{[](std::monostate) { return Cell(); }, [](const auto& v) { return Cell(v); }}, value);
}

Cell space_cell(const Space& space) {
  std::vector<Cell> params;
  for (const Param& param : space.params()) {
    Fields fields = {{"name", param.name}};
    std::visit(Match{[&](const RealRange& range) {
                       fields.emplace_back("kind", "real");
                       fields.emplace_back("low", range.low);
                       fields.emplace_back("high", range.high);
                       fields.emplace_back("scale", word(range.scale));
                     },
                     [&](const IntRange& range) {
                       fields.emplace_back("kind", "integer");
                       fields.emplace_back("low", range.low);
                       fields.emplace_back("high", range.high);
                       fields.emplace_back("scale", word(range.scale));
                     },
                     [&](const Choice& choice) {
                       std::vector<Cell> options;
                       for (const Value& option : choice.options) options.push_back(value_cell(option));
                       fields.emplace_back("kind", "choice");
                       fields.emplace_back("options", options);
                     },
                     [&](const Constant& constant) {
                       fields.emplace_back("kind", "constant");
                       fields.emplace_back("value", value_cell(constant.value));
                     }},
               param.domain);
    params.emplace_back(std::move(fields));
  }
  return params;
}

Cell spec_cell(const StudySpec& spec) {
  return Fields{{"metric", spec.metric.name},
                {"goal", word(spec.metric.goal)},
                {"epochs", Fields{{"min", spec.epochs.min}, {"max", spec.epochs.max}}},
                {"unit", spec.budget.unit},
                {"meter", word(spec.budget.meter)},
                {"per_second", spec.budget.of_seconds(1.0)},
                {"deadline", spec.deadline ? Cell(*spec.deadline) : Cell()},
                {"workers", spec.workers},
                {"seed", std::to_string(spec.seed)},
                {"policy", spec.policy.name},
                {"space", space_cell(spec.space)}};
}

}  // namespace

Fields list_entry(const ShownStudy& study, const std::string& id) {
  Fields entry = status_record(study.history, study.controller, {});
  entry.emplace_back("metric", study.spec().metric.name);
  entry.emplace_back("goal", word(study.spec().metric.goal));
  std::vector<double> values;
  for (const SpentReport& report : study.log.improvements()) {
    values.push_back(report.best);
  }
  entry.emplace_back("spark", spark_of(std::move(values)));
  entry.emplace_back("changed", last_change(study));
  entry.emplace_back("seq", study.log.last());
  entry.emplace_back("damage", study.damage ? Cell(study.damage->text()) : Cell());
  entry.emplace_back("id", id);
  entry.emplace_back("error", Cell());
  return entry;
}

Fields live_record(const ShownStudy& study, const std::optional<Leader>& leader, double now) {
  const History& history = study.history;
  Fields record = status_record(history, study.controller, best_model(study.dir, history));
  const Cell running = running_cell(study);
  record.emplace_back("seq", study.log.last());
  record.emplace_back("now", now);
  record.emplace_back("committed", history.budget().committed());
  const ExpectedEnd end = expected_end(study, now);
  record.emplace_back("ends_at", end.at);
  record.emplace_back("left_at_end", end.left);
  record.emplace_back("deadline", deadline_of(study));
  record.emplace_back("began", study.log.empty() ? Cell() : Cell(study.log.began()));
  record.emplace_back("changed", study.log.empty() ? Cell() : Cell(last_change(study)));
  record.emplace_back("spending", spending_cell(study.log.spending()));
  record.emplace_back("workers", Fields{{"busy", running.size()}, {"of", study.spec().workers}});
  record.emplace_back("controller", controller_cell(leader));
  record.emplace_back("finish_reason", history.finished() ? Cell(history.finish_reason()) : Cell());
  record.emplace_back("failures_in_a_row", history.failures_in_a_row());
  record.emplace_back("damage", study.damage ? Cell(study.damage->text()) : Cell());
  record.emplace_back("running", running);
  record.emplace_back("latest", latest_decision(study));
  return record;
}

Fields overview_record(const ShownStudy& study, const std::optional<Leader>& leader, double now) {
  Fields record = status_of(study.dir, study.history, study.controller);
  for (auto& [name, cell] : live_record(study, leader, now)) {
    const bool there =
        std::any_of(record.begin(), record.end(), [&](const auto& field) { return field.first == name; });
    if (!there) record.emplace_back(name, std::move(cell));
  }
  record.emplace_back("spec", spec_cell(study.spec()));
  const std::string path = study.shown();
  record.emplace_back("command", study.spec().command.empty() ? Cell() : Cell("bapi resume " + path));
  record.emplace_back("path", path);
  return record;
}

}  // namespace bapi
