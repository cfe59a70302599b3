#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bapi/study/history.h"
#include "bapi/study/spec.h"

namespace bapi {

// How far a value falls short of the best of a table. Values are to be maximised.
struct RegretScale {
  double best = 0.0;
  double range = 0.0;  // from the median of the last values to the best

  double regret(double value) const { return best - value; }
  // As a share of the range; 0 if there is none.
  double normalised(double value) const { return range > 0.0 ? regret(value) / range : 0.0; }
};

// Recorded learning curves: what training each configuration showed and cost, epoch by epoch.
struct CurveTable {
  struct Run {
    std::vector<double> value;  // per epoch, as the user's program printed it; not finite: it crashed there
    std::vector<double> cost;   // of each epoch alone; as long as `value`

    // False: broken off by the study that recorded it. How it would have gone on is not known, so that it says neither
    // what a full run costs nor where one ends.
    bool complete = true;
  };

  std::string name;
  Space space{{Param{.name = "x", .domain = RealRange{}}}};
  Metric metric;
  std::string cost_unit = "epochs";
  Epoch max_epoch = 0;
  std::vector<Config> configs;
  std::vector<Run> runs;  // runs[i] belongs to configs[i]; a short one ended by itself

  // If set, any configuration of the space can be trained, not only the rows; these then serve as the reference for
  // costs and regrets.
  std::function<Run(const Config&)> at_any = {};

  // Throws InvalidInput: sizes that do not match, no run, an empty run, one longer than max_epoch, a cost that is
  // negative or above 1e15.
  void validate() const;

  std::size_t row(const Config& config) const;  // LogicError if it is not in the table
  Run run_of(const Config& config) const;

  // Over the complete runs; without any, the mean cost of an epoch times the number of epochs.
  Cost mean_full_cost() const;

  bool has_result() const;  // a finite value at any epoch

  // To be maximised: the best finite value at any epoch, and the median over complete runs of the last finite value
  // (over all runs if no complete one has any).
  double best() const;
  double median_final() const;
  RegretScale regret_scale() const;
};

// The trials of a study as a table: `bapi simulate mlp.bapi` asks what another policy would have found on them. Only
// completed trials are complete runs. An epoch that was not reported lies on the straight line between its neighbours
// and costs what the next one did. One that was stopped or paused ends where it was. One that failed crashes in the
// epoch after its last, which costs what the trial spent besides its epochs. InvalidInput if no trial has an epoch.
CurveTable table_of(const History& history);

// A study over the rows of `table`: its space, pool, metric, epochs, and a budget in simulated cost.
StudySpec study_of(const CurveTable& table, Cost budget, const PolicySpec& policy, std::uint64_t seed, int workers);

}  // namespace bapi
