#pragma once

#include <optional>
#include <vector>

#include "bapi/policy/bapi_options.h"
#include "bapi/policy/forecast_plan.h"
#include "bapi/policy/models.h"
#include "bapi/policy/planning.h"

namespace bapi {

// A predicted value in the user's direction, with the ends of its central 80 % band, which is widened to the mean where
// a few large values lead that out of it.
struct Prediction {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

// What the models expect of one trial's curve.
struct CurveForecast {
  TrialId trial{};
  Epoch done = 0;
  Epoch stop = 0;  // where it will have flattened out
  Cost cost_to_finish = 0.0;
  double chance_of_best = 0.0;     // to beat the current best by the last epoch
  std::vector<Epoch> epochs = {};  // 1 .. last
  std::vector<Prediction> curve = {};
};

struct PlannedTraining {
  std::optional<TrialId> trial;  // none: a new configuration
  Config config;
  Epoch from = 0;
  Epoch until = 0;  // where its curve is flat, or what the budget pays
  Cost cost = 0.0;
  Prediction value;          // at `until`
  double improvement = 0.0;  // expected, over the best so far, in the metric's unit
  bool next = false;         // the one to be trained first
};

// The best value that can be expected once `cost` has been spent from now.
struct Outlook {
  Cost cost = 0.0;
  Prediction best;
};

struct PlanSummary {
  std::vector<PlannedTraining> runs = {};
  Cost budget = 0.0;                  // that was planned with
  Cost left = 0.0;                    // of it after the runs
  std::vector<Outlook> outlook = {};  // after none, one, two, ... of the runs

  // The gain over the best so far once all runs are done, in the metric's unit, never negative: kGainQuantiles equally
  // likely values, ascending. Empty if there are no runs.
  std::vector<double> gains = {};
};
inline constexpr int kGainQuantiles = 200;

// What the planner thinks of a study as it stands. Fits the models once; everything else is read off them.
class Insight {
 public:
  // Throws InvalidInput if no trial has reported a value yet.
  Insight(const History& history, const BapiOptions& options);
  Insight(const Insight&) = delete;
  Insight& operator=(const Insight&) = delete;

  const Models& models() const { return models_; }
  const BapiOptions& options() const { return options_; }
  CurveForecast forecast(const Trial& trial) const;

  // The horizon within `budget`, at most `length` runs, and what it is expected to lead to.
  PlanSummary plan(Cost budget, int length) const;

 private:
  double best_so_far() const;
  Prediction in_user_units(double mean, double low, double high) const;  // of scores
  Prediction prediction(const Prognosis& law, Eigen::Index i) const;
  std::vector<Candidate> candidates() const;
  std::vector<PlannedForecast> paper_horizon(const std::vector<Candidate>& candidates,
                                             Cost budget,
                                             int length,
                                             int& next) const;
  void look_ahead(const std::vector<PlannedForecast>& runs, PlanSummary& summary) const;

  const History& history_;
  BapiOptions options_;
  Rng rng_;
  Evidence evidence_;
  Models models_;
  Planning planning_;
};

}  // namespace bapi
