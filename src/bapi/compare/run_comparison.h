#pragma once

#include <atomic>
#include <functional>

#include "bapi/compare/comparison.h"
#include "bapi/compare/run_log.h"

namespace bapi {

struct ComparisonProgress {
  int done = 0;  // of `total`, with those that were kept from before
  int total = 0;
  int kept = 0;                // finished by an earlier call
  double seconds_left = -1.0;  // negative: not known yet
  RunKey last = {};            // that was finished
};

struct RunComparisonOptions {
  int jobs = 1;  // runs at a time, no more than a few hundred; what comes out does not depend on it
  const std::atomic<bool>* interrupt = nullptr;
  // After every finished run, from one thread at a time.
  std::function<void(const ComparisonProgress&)> observer = {};
};

enum class ComparisonEnd { finished, interrupted };

// One run, alone: a pure function of its arguments but for times that are measured. nullopt if it was interrupted.
std::optional<RunRecord> run_of(const RunKey& key,
                                const Comparison& comparison,
                                const std::atomic<bool>* interrupt = nullptr);

// Does all runs that `log` does not have yet. A run that throws does not keep the others from being done; then throws
// LogicError that names it. InvalidInput and StoreError end it at once, as themselves.
ComparisonEnd run_comparison(const Comparison& comparison, RunLog& log, const RunComparisonOptions& options);

// The runs of `comparison` out of the log, in the order of tables, policies, budgets, workers and seeds. Every one must
// be finished.
std::vector<RunRecord> records_of(const Comparison& comparison, const RunLog& log);

}  // namespace bapi
