#include "bapi/compare/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/policy/calibration.h"
#include "bapi/policy/registry.h"
#include "bapi/study/direction.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/timed_policy.h"

namespace bapi {
namespace {

constexpr std::size_t kMostThreads = 256;

template <typename Range, typename NameOf>
const auto& named(const Range& range, const std::string& name, const NameOf& name_of) {
  const auto found = std::find_if(range.begin(), range.end(), [&](const auto& item) { return name_of(item) == name; });
  check(found != range.end(), "compare: a run that is not of this comparison");
  return *found;
}

const CurveTable& table_of(const RunKey& key, const Comparison& comparison) {
  return named(comparison.tables, key.table, [](const CurveTable& table) { return table.name; });
}

const ComparedPolicy& policy_of(const RunKey& key, const Comparison& comparison) {
  return named(comparison.policies, key.policy, [](const ComparedPolicy& p) { return p.label; });
}

const TableBudget& budget_of(const RunKey& key, const Comparison& comparison) {
  return named(comparison.budgets, key.budget, [](const TableBudget& budget) { return budget.text(); });
}

std::vector<std::pair<double, double>> normalised(const SimulationSummary& summary,
                                                  const CurveTable& table,
                                                  Cost budget) {
  const RegretScale scale = table.regret_scale();
  std::vector<std::pair<double, double>> trajectory;
  for (const auto& [spent, value] : summary.trajectory) {
    trajectory.emplace_back(spent / budget, scale.normalised(oriented(value, table.metric.goal)));
  }
  return trajectory;
}

// What the decisions since the last segment began delay the next one by.
std::function<Cost()> charge_of(TimedPolicy& timed, const RunKey& key, const Comparison& comparison) {
  if (!comparison.charges_decisions_on(table_of(key, comparison))) return {};
  std::optional<OverheadModel> model;
  if (comparison.overhead == OverheadCharge::modelled) model = comparison.models.at(key.policy);
  return [&timed, model] {
    Cost sum = 0.0;
    for (const TimedDecision& decision : timed.take_decisions()) {
      sum += model ? model->seconds(decision.trials) : decision.seconds;
    }
    return sum;
  };
}

// Runs the queue on several threads. Everything shared is behind one mutex: a run takes milliseconds at least.
class Pool {
 public:
  Pool(const Comparison& comparison, RunLog& log, const RunComparisonOptions& options)
      : comparison_(comparison), log_(log), options_(options) {
    for (RunKey& key : keys_of(comparison)) {
      ++progress_.total;
      if (log.finished().contains(key)) {
        ++progress_.kept;
      } else {
        queue_.push_back(std::move(key));
      }
    }
    progress_.done = progress_.kept;
    for (const RunKey& key : queue_) ++waiting_[kind_of(key)];
  }

  ComparisonEnd run() {
    work_on(std::min({static_cast<std::size_t>(options_.jobs), queue_.size(), kMostThreads}));
    if (broken_) std::rethrow_exception(broken_);
    if (interrupted()) return ComparisonEnd::interrupted;
    if (!failures_.empty()) {
      throw LogicError(
          fmt::format("{} runs failed, the others are kept; the first: {}", failures_.size(), failures_[0]));
    }
    return ComparisonEnd::finished;
  }

 private:
  using Kind = std::tuple<std::string, std::string, int>;  // runs that take about as long as each other

  struct Timing {
    double seconds = 0.0;
    int runs = 0;
  };

  static Kind kind_of(const RunKey& key) { return {key.policy, key.budget, key.workers}; }
  bool interrupted() const { return options_.interrupt && options_.interrupt->load(); }

  // This thread works as well, so that something is done where no other can be started.
  void work_on(std::size_t threads) {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < threads) others.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The machine has no more threads to give; those that run do all the work.
    }
    work();
  }

  std::optional<RunKey> next() {
    const std::lock_guard lock(mutex_);
    if (interrupted() || broken_ || at_ == queue_.size()) return std::nullopt;
    return queue_[at_++];
  }

  void work() {
    const SystemClock clock;
    while (const std::optional<RunKey> key = next()) {
      const double start = clock.now();
      try {
        const std::optional<RunRecord> record = run_of(*key, comparison_, options_.interrupt);
        if (record) finish(*record, clock.now() - start);
      } catch (const InvalidInput& error) {
        fail(std::make_exception_ptr(InvalidInput(fmt::format("{}: {}", to_text(*key), error.what()))));
      } catch (const StoreError&) {
        fail(std::current_exception());
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        failures_.push_back(fmt::format("{}: {}", to_text(*key), error.what()));
      }
    }
  }

  // Ends everything: what cannot be written, or was asked for wrongly, does not get better with the next run.
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!broken_) broken_ = std::move(error);
  }

  void finish(const RunRecord& record, double seconds) {
    const std::lock_guard lock(mutex_);
    log_.append(record);
    ++progress_.done;
    --waiting_[kind_of(record.key)];
    Timing& timing = timings_[kind_of(record.key)];
    timing.seconds += seconds;
    ++timing.runs;
    progress_.last = record.key;
    progress_.seconds_left = seconds_left();
    if (options_.observer) options_.observer(progress_);
  }

  // Runs of a kind that has not been seen yet count like the mean of all kinds seen.
  double seconds_left() const {
    double mean = 0.0;
    for (const auto& [kind, timing] : timings_) mean += timing.seconds / timing.runs;
    mean /= static_cast<double>(timings_.size());
    double sum = 0.0;
    for (const auto& [kind, runs] : waiting_) {
      const auto seen = timings_.find(kind);
      sum += runs * (seen == timings_.end() ? mean : seen->second.seconds / seen->second.runs);
    }
    return sum / static_cast<double>(std::min(options_.jobs, std::max(1, progress_.total - progress_.kept)));
  }

  const Comparison& comparison_;
  RunLog& log_;
  const RunComparisonOptions& options_;
  std::mutex mutex_;
  std::vector<RunKey> queue_;
  std::size_t at_ = 0;
  std::map<Kind, int> waiting_;
  std::map<Kind, Timing> timings_;
  ComparisonProgress progress_;
  std::vector<std::string> failures_;
  std::exception_ptr broken_;  // why no further run is begun
};

}  // namespace

std::optional<RunRecord> run_of(const RunKey& key, const Comparison& comparison, const std::atomic<bool>* interrupt) {
  const CurveTable& table = table_of(key, comparison);
  const auto& [label, spec, warm] = policy_of(key, comparison);
  const Cost budget = budget_of(key, comparison).on(table);
  const std::unique_ptr<Policy> policy = make_policy(spec);
  const ThreadClock clock;
  TimedPolicy timed(*policy, clock);
  std::vector<CurveTable> from;
  if (warm) from = earlier_trials(comparison.from, key.seed);
  const SimulationOptions options{.budget = budget,
                                  .seed = key.seed,
                                  .workers = key.workers,
                                  .checkpoint = comparison.checkpoint,
                                  .overhead = charge_of(timed, key, comparison),
                                  .interrupt = interrupt,
                                  .from = from};
  const SimulationSummary summary = simulate(table, spec, timed, options);
  if (summary.how == TuneEnd::interrupted) return std::nullopt;
  RunRecord record{.key = key,
                   .final = summary.best,
                   .regret = summary.regret,
                   .normalised_regret = summary.normalised_regret,
                   .spent = summary.spent,
                   .decisions = summary.decisions,
                   .overhead_seconds = timed.seconds(),
                   .decision_times = decision_times(timed.decisions()),
                   .trajectory = normalised(summary, table, budget)};
  if (has_forecasts(summary.events)) {
    record.calibration =
        calibration(*summary.history, summary.events, [&](const Config& config) { return table.run_of(config).value; });
  }
  return record;
}

ComparisonEnd run_comparison(const Comparison& comparison, RunLog& log, const RunComparisonOptions& options) {
  check(options.jobs >= 1, "run_comparison: needs a thread");
  return Pool(comparison, log, options).run();
}

std::vector<RunRecord> records_of(const Comparison& comparison, const RunLog& log) {
  std::vector<RunRecord> records;
  for (const CurveTable& table : comparison.tables) {
    for (const ComparedPolicy& policy : comparison.policies) {
      for (const TableBudget& budget : comparison.budgets) {
        for (const int workers : comparison.workers) {
          for (const std::uint64_t seed : comparison.seed_numbers()) {
            const auto found = log.finished().find({.table = table.name,
                                                    .policy = policy.label,
                                                    .budget = budget.text(),
                                                    .workers = workers,
                                                    .seed = seed});
            check(found != log.finished().end(), "compare: a run has not been finished");
            records.push_back(found->second);
          }
        }
      }
    }
  }
  return records;
}

}  // namespace bapi
