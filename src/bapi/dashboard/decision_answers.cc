#include "bapi/dashboard/decision_answers.h"

#include <algorithm>
#include <limits>
#include <map>

#include "bapi/policy/calibration.h"
#include "bapi/report/reasons.h"
#include "bapi/studies/records.h"

namespace bapi {
namespace {

constexpr std::size_t kMostOfTrial = 200;

struct DecisionFilter {
  std::optional<TrialId> trial = {};  // that it is about
  std::string_view rule = {};
  EventSeq before = std::numeric_limits<EventSeq>::max();
  std::size_t limit = 100;
};

bool is_told(const StoredEvent& stored, const DecisionFilter& filter) {
  if (!is_decision(stored.event) || stored.seq >= filter.before) return false;
  const Reason* why = reason_of(stored.event);
  if (filter.trial && trial_of(stored.event) != filter.trial &&
      !(why && why->check && why->check->trial == *filter.trial)) {
    return false;
  }
  return filter.rule.empty() || (why && word(why->rule) == filter.rule);
}

struct FoundDecisions {
  std::vector<StoredEvent> events = {};  // the last `limit` before event `before`, newest last
  std::int64_t total = 0;                // before and after it
};

FoundDecisions find_decisions(const ShownStudy& study, const DecisionFilter& filter) {
  FoundDecisions found;
  DecisionFilter all = filter;
  all.before = std::numeric_limits<EventSeq>::max();
  for (auto stored = study.log.told().rbegin(); stored != study.log.told().rend(); ++stored) {
    if (!is_told(*stored, all)) continue;
    ++found.total;
    if (stored->seq < filter.before && found.events.size() < filter.limit) found.events.push_back(*stored);
  }
  std::reverse(found.events.begin(), found.events.end());
  return found;
}

Cell outcome_cell(const ForecastOutcome& outcome) {
  const auto cell = [](const std::optional<double>& number) { return number ? Cell(*number) : Cell(); };
  if (!outcome.value && !outcome.cost) return {};
  return Fields{{"value", cell(outcome.value)},
                {"error", outcome.value_error ? Cell(outcome.value_error->z) : Cell()},
                {"cost", cell(outcome.cost)},
                {"cost_error", cell(outcome.cost_error)}};
}

// What is to be trained before the next decision, which may be less than what the forecast and its price are about.
Cell segment_cell(const TrainingDecision& training) {
  return Fields{{"from", training.from},
                {"until", training.until},
                {"expected_cost", training.expected_cost > 0.0 ? Cell(training.expected_cost) : Cell()}};
}

// Newest first.
Cell told(const ShownStudy& study, const std::vector<StoredEvent>& decisions) {
  const Cell rows = list_of(explanation_table(decisions, study.spec(), std::nullopt));
  std::map<EventSeq, Cell> came;
  for (const StoredEvent& decision : decisions) came[decision.seq] = Cell();
  std::vector<TrainingDecision> trainings;
  std::ranges::copy_if(study.log.trainings(), std::back_inserter(trainings), [&](const TrainingDecision& training) {
    return came.contains(training.seq);
  });
  for (const ForecastOutcome& outcome : forecast_outcomes(study.history, trainings)) {
    came[outcome.seq] = outcome_cell(outcome);
  }
  std::map<EventSeq, Cell> segments;
  for (const TrainingDecision& training : trainings) segments[training.seq] = segment_cell(training);
  std::vector<Cell> list;
  for (std::size_t i = rows.size(); i-- > 0;) {
    Cell row = rows[i];
    const auto seq = row["seq"].get<EventSeq>();
    row["segment"] = segments[seq];
    row["came_true"] = came[seq];
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace

Cell decisions_about(const ShownStudy& study, TrialId trial) {
  return told(study, find_decisions(study, {.trial = trial, .limit = kMostOfTrial}).events);
}

Cell latest_decision(const ShownStudy& study) {
  for (auto stored = study.log.told().rbegin(); stored != study.log.told().rend(); ++stored) {
    if (!is_decision(stored->event)) continue;
    Cell row = list_of(explanation_table(std::span(&*stored, 1), study.spec(), std::nullopt))[0];
    row.erase("assignment");
    return row;
  }
  return {};
}

Fields decisions_page(const ShownStudy& study, const HttpQuery& query) {
  DecisionFilter filter;
  filter.rule = parameter_of(query, "rule");
  const std::int64_t trial = integer_in(query, "trial", -1, 0, std::ssize(study.history.trials()) - 1);
  if (trial >= 0) filter.trial = TrialId{trial};
  filter.before = integer_in(query, "before", filter.before, 1, std::numeric_limits<EventSeq>::max());
  filter.limit = static_cast<std::size_t>(integer_in(query, "limit", 100, 1, 2000));
  const FoundDecisions found = find_decisions(study, filter);
  const bool more = found.events.size() == filter.limit;
  return {{"decisions", told(study, found.events)},
          {"total", found.total},
          {"next", more ? Cell(found.events.front().seq) : Cell()}};
}

Fields calibration_record(const ShownStudy& study) {
  const std::vector<ForecastOutcome> outcomes = forecast_outcomes(study.history, study.log.trainings());
  std::vector<Cell> forecasts;
  for (const ForecastOutcome& outcome : outcomes) {
    if (!outcome.value_error && !outcome.cost_error) continue;
    forecasts.emplace_back(Fields{{"seq", outcome.seq},
                                  {"at", outcome.at},
                                  {"trial", index(outcome.trial)},
                                  {"error", outcome.value_error ? Cell(outcome.value_error->z) : Cell()},
                                  {"cost_error", outcome.cost_error ? Cell(*outcome.cost_error) : Cell()}});
  }
  return {{"table", list_of(calibration_table(calibration(outcomes)))}, {"forecasts", std::move(forecasts)}};
}

}  // namespace bapi
