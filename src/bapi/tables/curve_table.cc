#include "bapi/tables/curve_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bapi/base/error.h"
#include "bapi/study/direction.h"

namespace bapi {
namespace {

// Of an epoch. Sums of costs stay finite, and keep the fractions of small ones.
constexpr Cost kLargestCost = 1e15;

bool is_complete(const CurveTable::Run& run) { return run.complete; }

Cost total_cost(const CurveTable::Run& run) { return std::accumulate(run.cost.begin(), run.cost.end(), 0.0); }

// To be maximised, in order.
std::vector<double> last_values(const CurveTable& table, const std::function<bool(const CurveTable::Run&)>& counts) {
  std::vector<double> values;
  for (const CurveTable::Run& run : table.runs) {
    const auto last = std::find_if(run.value.rbegin(), run.value.rend(), [](double v) { return std::isfinite(v); });
    if (counts(run) && last != run.value.rend()) values.push_back(oriented(*last, table.metric.goal));
  }
  std::sort(values.begin(), values.end());
  return values;
}

CurveTable::Run run_of(const Trial& trial, const History& history) {
  CurveTable::Run run;
  run.complete = trial.state == TrialState::completed;
  for (const Measurement& m : trial.curve.points()) {
    const double value = history.in_user_units(m.value);
    const double before = run.value.empty() ? value : run.value.back();
    const Epoch done = static_cast<Epoch>(run.value.size());
    for (Epoch epoch = done + 1; epoch <= m.epoch; ++epoch) {
      const bool reported = epoch == m.epoch;
      run.value.push_back(reported ? value : std::lerp(before, value, double(epoch - done) / double(m.epoch - done)));
      run.cost.push_back(m.cost);
    }
  }
  if (trial.state == TrialState::failed && trial.curve.last_epoch() < history.spec().epochs.max) {
    run.value.push_back(std::numeric_limits<double>::quiet_NaN());
    run.cost.push_back(trial.overhead);
  }
  return run;
}

// A name that may become a directory.
std::string plain(std::string name) {
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
  }
  return name.empty() || name.front() == '.' || name.front() == '-' ? "table" + name : name;
}

}  // namespace

void CurveTable::validate() const {
  require(!runs.empty(), fmt::format("{}: the table has no curve", name));
  require(runs.size() == configs.size(),
          fmt::format("{}: {} curves for {} configurations", name, runs.size(), configs.size()));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    require(!run.value.empty(), fmt::format("{}: row {} has no epoch", name, i));
    require(std::ssize(run.value) <= max_epoch,
            fmt::format("{}: row {} has {} epochs, more than {}", name, i, run.value.size(), max_epoch));
    require(run.cost.size() == run.value.size(),
            fmt::format("{}: row {} has another number of costs than values", name, i));
    for (const double cost : run.cost) {
      require(cost >= 0.0 && cost <= kLargestCost,
              fmt::format("{}: row {} has a cost of {}, expected a number from 0 to {}", name, i, cost, kLargestCost));
    }
    space.validate(configs[i]);
  }
}

std::size_t CurveTable::row(const Config& config) const {
  const auto found = std::find(configs.begin(), configs.end(), config);
  check(found != configs.end(), "CurveTable: the configuration is not in the table");
  return static_cast<std::size_t>(found - configs.begin());
}

CurveTable::Run CurveTable::run_of(const Config& config) const { return at_any ? at_any(config) : runs[row(config)]; }

Cost CurveTable::mean_full_cost() const {
  const bool known = std::any_of(runs.begin(), runs.end(), is_complete);
  Cost sum = 0.0;
  std::size_t count = 0;
  for (const Run& run : runs) {
    if (known && !run.complete) continue;
    sum += total_cost(run);
    count += known ? 1 : run.cost.size();
  }
  return (known ? 1.0 : max_epoch) * sum / static_cast<double>(count);
}

bool CurveTable::has_result() const { return std::isfinite(best()); }

double CurveTable::best() const {
  double best = -std::numeric_limits<double>::infinity();
  for (const Run& run : runs) {
    for (const double value : run.value) {
      if (std::isfinite(value)) best = std::max(best, oriented(value, metric.goal));
    }
  }
  return best;
}

double CurveTable::median_final() const {
  std::vector<double> finals = last_values(*this, is_complete);
  if (finals.empty()) finals = last_values(*this, [](const Run&) { return true; });
  check(!finals.empty(), "CurveTable: no finite value");
  const std::size_t middle = finals.size() / 2;
  return finals.size() % 2 == 1 ? finals[middle] : 0.5 * (finals[middle - 1] + finals[middle]);
}

RegretScale CurveTable::regret_scale() const { return {.best = best(), .range = best() - median_final()}; }

CurveTable table_of(const History& history) {
  const StudySpec& spec = history.spec();
  CurveTable table;
  table.name = spec.name;
  table.space = spec.space;
  table.metric = spec.metric;
  table.metric.smooth = 1;  // its values are smoothed already
  table.cost_unit = spec.budget.unit;
  table.max_epoch = spec.epochs.max;
  const auto trials = history.trials();
  require(std::any_of(trials.begin(), trials.end(), [](const Trial& trial) { return !trial.curve.empty(); }),
          fmt::format("{}: no trial of this study has finished an epoch", spec.name));
  for (const Trial& trial : trials) {
    const bool repeated = std::find(table.configs.begin(), table.configs.end(), trial.config) != table.configs.end();
    CurveTable::Run run = run_of(trial, history);
    if (run.value.empty() || repeated) continue;
    table.configs.push_back(trial.config);
    table.runs.push_back(std::move(run));
  }
  table.validate();
  return table;
}

StudySpec study_of(const CurveTable& table, Cost budget, const PolicySpec& policy, std::uint64_t seed, int workers) {
  StudySpec spec;
  spec.name = plain(table.name);
  spec.metric = table.metric;
  spec.budget = {.limit = budget, .unit = table.cost_unit, .meter = Meter::accrued};
  spec.epochs = {.min = 1, .max = table.max_epoch};
  spec.workers = workers;
  spec.seed = seed;
  spec.policy = policy;
  spec.space = table.space;
  if (!table.at_any) spec.pool = table.configs;
  spec.grace = 0.0;
  spec.max_failures = std::numeric_limits<int>::max();
  spec.validate_against(spec);  // the names are those of the table
  return spec;
}

}  // namespace bapi
