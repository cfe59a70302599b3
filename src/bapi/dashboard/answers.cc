#include "bapi/dashboard/answers.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/match.h"
#include "bapi/base/utf8.h"
#include "bapi/policy/calibration.h"
#include "bapi/report/reasons.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/best_model.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/records.h"
#include "bapi/study/direction.h"
#include "bapi/study/progress.h"

namespace bapi {
namespace {

constexpr std::size_t kSparkPoints = 60;
constexpr std::size_t kMostDots = 2000;
constexpr std::size_t kMostRows = 100'000;

// ---- Parameters

std::string_view value_of(const HttpQuery& query, std::string_view name) {
  const auto found = std::find_if(query.begin(), query.end(), [&](const auto& entry) { return entry.first == name; });
  return found == query.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t integer_in(
    const HttpQuery& query, std::string_view name, std::int64_t otherwise, std::int64_t low, std::int64_t high) {
  const std::string_view text = value_of(query, name);
  if (text.empty()) return otherwise;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(
      error == std::errc() && end == text.data() + text.size() && number >= low && number <= high,
      fmt::format("{}: found {}, expected an integer from {} to {}", name, visible_line(clipped(text, 40)), low, high));
  return number;
}

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

Cell spending_cell(const Spending& sums) {
  Fields fields;
  for (const CostKind kind : kCostKinds) {
    fields.emplace_back(std::string(word(kind)), sums[static_cast<std::size_t>(kind)]);
  }
  return fields;
}

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

Cell controller_cell(const std::optional<Leader>& holder) {
  if (!holder) return {};
  return Fields{{"host", holder->host}, {"pid", holder->pid}, {"since", holder->since ? Cell(*holder->since) : Cell()}};
}

Cell deadline_of(const ShownStudy& study) {
  const std::optional<double> began = study.log.first_decision_at();
  if (!study.spec().deadline || !began) return {};
  return *began + *study.spec().deadline;
}

// When the study ends, and what it then has left: something if the deadline comes first.
struct ExpectedEnd {
  Cell at = {};
  Cell left = {};
};

ExpectedEnd expected_end(const ShownStudy& study, double now) {
  if (study.controller == Controller::absent || study.history.finished()) return {};
  const double rate = spending_rate(study, now);
  const Budget budget = study.history.budget();
  double end = std::numeric_limits<double>::infinity();
  // What was spent since the last event is not in the log yet.
  const double since = std::min(now, last_change(study));
  if (rate > 0.0) end = std::max(now, since + std::max(0.0, budget.unspent()) / rate);
  if (const Cell deadline = deadline_of(study); !deadline.is_null()) end = std::min(end, deadline.get<double>());
  if (!std::isfinite(end)) return {};
  return {.at = end, .left = std::max(0.0, budget.unspent() - rate * std::max(0.0, end - since))};
}

// The last `count` decisions about `trial` before event `before`, oldest first; copies, since a log is large.
struct DecisionFilter {
  std::optional<TrialId> trial = {};
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
  std::vector<StoredEvent> events = {};  // newest last
  std::int64_t total = 0;
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

// The newest decision, in words; without what came of it, which would need the whole log.
Cell latest_decision(const ShownStudy& study) {
  for (auto stored = study.log.told().rbegin(); stored != study.log.told().rend(); ++stored) {
    if (!is_decision(stored->event)) continue;
    Cell row = list_of(explanation_table(std::span(&*stored, 1), study.spec(), std::nullopt))[0];
    row.erase("assignment");
    return row;
  }
  return {};
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

// ---- Trials

// What rows are sorted by: a column, or a parameter as config.NAME. null for what is missing.
Cell sort_key(const std::vector<Cell>& row, const std::vector<std::string>& columns, const std::string& key) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == key) return row[i];
    if (columns[i] == "config" && key.starts_with("config.")) {
      const auto found = row[i].find(key.substr(7));
      return found == row[i].end() ? Cell() : *found;
    }
  }
  throw InvalidInput(fmt::format("sort: there is no column {}", visible_line(clipped(key, 40))));
}

bool precedes(const Cell& a, const Cell& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  if (a.is_string() && b.is_string()) return a.get_ref<const std::string&>() < b.get_ref<const std::string&>();
  return a.is_number() && !b.is_number();
}

void sort_trials(std::vector<std::vector<Cell>>& rows, const std::vector<std::string>& columns, std::string key) {
  const bool descending = key.starts_with('-');
  if (descending) key.erase(0, 1);
  std::vector<std::pair<Cell, std::size_t>> order;
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(sort_key(rows[i], columns, key), i);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first.is_null() || b.first.is_null()) return !a.first.is_null() && b.first.is_null();
    return descending ? precedes(b.first, a.first) : precedes(a.first, b.first);
  });
  std::vector<std::vector<Cell>> sorted;
  for (const auto& [key_cell, i] : order) sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

// ---- Files of a trial, below the study's own directory: no link is followed anywhere on the way.

FileDescriptor open_below(const FileDescriptor& parent, const std::string& name, int flags) {
  return FileDescriptor(::openat(parent.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
}

FileDescriptor open_trial(const ShownStudy& study, TrialId trial) {
  const FileDescriptor root(::open(study.dir.root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  const FileDescriptor trials = open_below(root, "trials", O_RDONLY | O_DIRECTORY);
  if (!trials) return {};
  return open_below(trials, study.dir.trial(trial).root.filename().string(), O_RDONLY | O_DIRECTORY);
}

Cell checkpoint_files(const ShownStudy& study, TrialId trial) {
  constexpr std::size_t kMostFiles = 100;
  std::vector<Cell> files;
  const FileDescriptor dir = open_trial(study, trial);
  if (!dir) return files;
  const FileDescriptor checkpoint = open_below(dir, "checkpoint", O_RDONLY | O_DIRECTORY);
  const int descriptor = checkpoint ? ::fcntl(checkpoint.get(), F_DUPFD_CLOEXEC, 0) : -1;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(descriptor < 0 ? nullptr : ::fdopendir(descriptor), &::closedir);
  while (list && files.size() < kMostFiles) {
    const dirent* entry = ::readdir(list.get());
    if (!entry) break;
    struct stat status {};
    if (::fstatat(checkpoint.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    files.emplace_back(Fields{{"name", well_formed(entry->d_name)}, {"bytes", status.st_size}});
  }
  std::ranges::sort(files, {}, [](const Cell& file) { return file["name"].get<std::string>(); });
  return files;
}

}  // namespace

Fields list_entry(const ShownStudy& study) {
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
  return entry;
}

Fields live_record(const ShownStudy& study, const std::optional<Leader>& holder, double now) {
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
  record.emplace_back("controller", controller_cell(holder));
  record.emplace_back("finish_reason", history.finished() ? Cell(history.finish_reason()) : Cell());
  record.emplace_back("failures_in_a_row", history.failures_in_a_row());
  record.emplace_back("damage", study.damage ? Cell(study.damage->text()) : Cell());
  record.emplace_back("running", running);
  record.emplace_back("latest", latest_decision(study));
  return record;
}

Fields overview_record(const ShownStudy& study, const std::optional<Leader>& holder, double now) {
  Fields record = status_of(study.dir, study.history, study.controller);
  for (auto& [name, cell] : live_record(study, holder, now)) {
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

Fields trials_page(const ShownStudy& study, const HttpQuery& query) {
  const Table table = trials_table(study.history, study.controller);
  const std::string_view state = value_of(query, "state");
  const std::string_view text = value_of(query, "q");
  std::vector<std::vector<Cell>> rows;
  for (const std::vector<Cell>& row : table.rows()) {
    if (!state.empty() && row[1] != state) continue;
    if (!text.empty()) {
      const std::string all = fmt::format("{} {} {}", row[0].dump(), row[1].get<std::string>(), to_text(row[5]));
      if (all.find(text) == std::string::npos) continue;
    }
    rows.push_back(row);
  }
  const std::string_view key = value_of(query, "sort");
  if (!key.empty()) sort_trials(rows, table.columns(), std::string(key));
  const auto total = std::ssize(rows);
  const auto begin = std::min(integer_in(query, "cursor", 0, 0, std::numeric_limits<std::int64_t>::max()), total);
  const auto end = std::min(begin + integer_in(query, "limit", 200, 1, kMostRows), total);
  Table page(table.columns());
  for (auto i = begin; i < end; ++i) page.add(std::move(rows[static_cast<std::size_t>(i)]));
  return {{"trials", list_of(page)}, {"total", total}, {"next", end < total ? Cell(end) : Cell()}};
}

Fields trial_page(const ShownStudy& study, const Trial& trial) {
  const std::vector<StoredEvent> events = study.log.events_of(trial.id, study.history);
  Fields record = trial_record(study, trial, events);
  for (const char* path : {"log", "report", "checkpoint"}) record.erase(path);
  record.emplace_back(
      "segment", trial.segment ? Cell(Fields{{"from", trial.segment->from}, {"until", trial.segment->until}}) : Cell());
  record.emplace_back("spending", spending_cell(spending(ledger(events))));
  record.emplace_back("decisions", told(study, find_decisions(study, {.trial = trial.id, .limit = 200}).events));
  record.emplace_back("files", checkpoint_files(study, trial.id));
  return record;
}

Fields log_page(const ShownStudy& study, const Trial& trial, const HttpQuery& query) {
  const std::int64_t most = integer_in(query, "bytes", 64 * 1024, 1, 256 * 1024);
  Fields empty = {{"text", ""}, {"from", 0}, {"to", 0}, {"size", 0}};
  const FileDescriptor dir = open_trial(study, trial.id);
  if (!dir) return empty;
  const FileDescriptor file = open_below(dir, "log", O_RDONLY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return empty;
  const auto size = static_cast<std::int64_t>(status.st_size);
  const std::int64_t to =
      std::min(size, integer_in(query, "before", size, 0, std::numeric_limits<std::int64_t>::max()));
  const std::int64_t from = std::max<std::int64_t>(0, to - most);
  std::string text(static_cast<std::size_t>(to - from), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(from));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return {{"text", well_formed(text)}, {"from", from}, {"to", to}, {"size", size}};
}

std::string binary_curves(const ShownStudy& study) {
  const auto trials = study.history.trials();
  std::vector<std::uint32_t> offsets = {0};
  std::vector<float> values;
  std::vector<float> costs;
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (const Trial& trial : trials) {
    Epoch epoch = 0;
    for (const Measurement& point : trial.curve.points()) {
      for (++epoch; epoch < point.epoch; ++epoch) {
        values.push_back(kNone);
        costs.push_back(kNone);
      }
      values.push_back(static_cast<float>(study.history.in_user_units(point.value)));
      costs.push_back(static_cast<float>(point.cost));
    }
    offsets.push_back(static_cast<std::uint32_t>(values.size()));
  }
  std::string out = "BCV1";
  const auto append = [&](const void* data, std::size_t bytes) { out.append(static_cast<const char*>(data), bytes); };
  const auto count = static_cast<std::uint32_t>(trials.size());
  const auto seq = static_cast<std::uint64_t>(study.log.last());
  append(&count, sizeof count);
  append(&seq, sizeof seq);
  append(offsets.data(), offsets.size() * sizeof(std::uint32_t));
  append(values.data(), values.size() * sizeof(float));
  append(costs.data(), costs.size() * sizeof(float));
  return out;
}

Fields curves_record(const ShownStudy& study) {
  std::vector<Cell> curves;
  for (const Trial& trial : study.history.trials()) {
    std::vector<Cell> values;
    std::vector<Cell> costs;
    Epoch epoch = 0;
    for (const Measurement& point : trial.curve.points()) {
      for (++epoch; epoch < point.epoch; ++epoch) {
        values.emplace_back();
        costs.emplace_back();
      }
      values.emplace_back(study.history.in_user_units(point.value));
      costs.emplace_back(point.cost);
    }
    curves.emplace_back(Fields{{"trial", index(trial.id)}, {"values", values}, {"costs", costs}});
  }
  return {{"curves", std::move(curves)}};
}

Fields decisions_page(const ShownStudy& study, const HttpQuery& query) {
  DecisionFilter filter;
  filter.rule = value_of(query, "rule");
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

Fields burndown_record(const ShownStudy& study, const HttpQuery& query) {
  const auto most = static_cast<std::size_t>(integer_in(query, "points", 600, 2, 10'000));
  std::vector<Cell> rows;
  for (const BurndownPoint& point : thinned(study.log.burndown(), most)) {
    rows.emplace_back(Fields{{"at", point.at}, {"total", point.total}, {"spent", spending_cell(point.spent)}});
  }
  return {{"points", std::move(rows)}};
}

Fields incumbent_record(const ShownStudy& study) {
  std::vector<Cell> steps;
  for (const SpentReport& report : study.log.improvements()) {
    steps.emplace_back(Fields{{"spent", report.spent},
                              {"at", report.at},
                              {"value", report.best},
                              {"trial", index(report.trial)},
                              {"epoch", report.measurement.epoch}});
  }
  std::vector<Cell> dots;
  for (const ReportDot& dot : thinned(study.log.dots(), kMostDots)) {
    dots.emplace_back(std::vector<Cell>{dot.spent, dot.value, index(dot.trial)});
  }
  return {{"steps", std::move(steps)}, {"dots", std::move(dots)}, {"reports", study.log.reports()}};
}

Fields timeline_record(const ShownStudy& study, const HttpQuery& query) {
  constexpr std::int64_t kLastSecond = 1LL << 40;
  const auto from = static_cast<double>(integer_in(query, "from", 0, 0, kLastSecond));
  const auto to = static_cast<double>(integer_in(query, "to", kLastSecond, 0, kLastSecond));
  std::vector<double> free_from;  // of each worker
  std::vector<Cell> rows;
  for (const WorkBar& bar : study.log.bars()) {
    const double end = bar.end.value_or(std::numeric_limits<double>::infinity());
    // A decision is written a moment before the end of what made room for it.
    std::size_t lane = 0;
    while (lane < free_from.size() && free_from[lane] > bar.begin + 0.05) ++lane;
    if (lane == free_from.size()) free_from.push_back(0.0);
    free_from[lane] = end;
    if (end < from || bar.begin > to) continue;
    rows.emplace_back(Fields{{"trial", index(bar.trial)},
                             {"until", bar.until},
                             {"begin", bar.begin},
                             {"end", bar.end ? Cell(*bar.end) : Cell()},
                             {"start_up", bar.start_up},
                             {"grace", bar.grace},
                             {"how", bar.how},
                             {"lane", lane}});
  }
  return {{"bars", std::move(rows)}, {"workers", study.spec().workers}};
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
