#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bapi/acquisition/batch_improvement.h"
#include "bapi/acquisition/search.h"
#include "bapi/base/rng.h"
#include "bapi/base/units.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/math/types.h"

namespace bapi {

// A run of another worker that has been decided on, at its expected stop.
struct PendingRun {
  Vector x;
  CurveId group = 0;
  Epoch until = 0;
};

// Whether configurations outside the list of candidates may be planned.
enum class NewPoints { none, from_cube };

struct HorizonProblem {
  const ExactGp& model;  // of standardised values; data at whole epochs
  double best = 0.0;     // best value so far, standardised
  Epoch min_epoch = 1;
  Epoch max_epoch = 1;
  double epsilon = 0.0;  // of conservative stopping, standardised
  Epoch first_look = 0;  // further epochs before a run is looked at: none is planned to end earlier
  Cost budget = 0.0;     // what may still be planned

  // Cost of epochs done + 1 .. until of the configuration x.
  std::function<Cost(const Vector& x, Epoch done, Epoch until)> cost;

  // What may be trained: of a finite list, or trained before and waiting to be resumed.
  std::vector<CurveAt> candidates;
  std::vector<PendingRun> pending;
  NewPoints new_points = NewPoints::from_cube;
  Decoder decode = {};  // x -> nearest valid x; empty if every x is valid

  // Log probabilities that points (as columns) are trained without failing, with gradients: a factor of every
  // improvement (q-UCB and q-PI, which are not planned by their logarithms, are lowered by it). Empty: all are.
  BatchObjective log_success = {};

  // Configurations that are not new any more, whether or not they are candidates.
  std::vector<Vector> taken = {};

  void validate() const;
};

struct HorizonOptions {
  int length = 4;  // at most this many runs
  BatchOptions acquisition = {.counting = Counting::gain, .resample_share = 0.5};
  SearchOptions search = {.starts = 6,
                          .finalists = 1,
                          .ascent = {.max_iterations = 30, .relative_tolerance = 1e-4, .gradient_tolerance = 1e-5}};

  // Draws of the q-EI average, doubled up to max_draws while fewer than 16 of them carry the weight at some point.
  int draws = 128;
  int max_draws = 256;

  // How many of them the screen uses, and the ascents; what they find is scored on all.
  int screen_draws = 16;
  int ascent_draws = 48;

  double value_jitter = 1e-8;  // relative to the amplitude, see JointDraws

  void validate() const;
};

struct PlannedRun {
  Vector x;
  int candidate = -1;  // its place in the list of candidates; -1 for a new configuration
  CurveId group = 0;
  Epoch from = 0;   // already trained
  Epoch until = 0;  // conservative stop, or what the budget pays
  bool shortened = false;
  Cost cost = 0.0;
  double score = 0.0;  // of the acquisition when it was chosen: by default what it adds to the runs before it
  double mean = 0.0;   // predicted at `until`, standardised
  double sd = 0.0;
  double log_improvement = 0.0;           // log EI at `until`, times the probability of success
  double log_improvement_per_cost = 0.0;  // less log cost
};

enum class HorizonEnd {
  full,          // as long as allowed
  budget_spent,  // the next run would not have fitted
  nothing_left,  // no candidate has anything to gain
};

struct Horizon {
  std::vector<PlannedRun> runs;
  int chosen = -1;  // largest improvement per cost; -1 if there are no runs
  Cost budget_left = 0.0;
  HorizonEnd end = HorizonEnd::nothing_left;
  int draws = 0;                       // really used
  double effective_draws = 0.0;        // the least number of them that carried the weight after any point
  double least_log_probability = 0.0;  // of the slope constraint at any run; below -50 the data contradict it

  bool empty() const { return runs.empty(); }
  const PlannedRun& next() const { return runs.at(static_cast<std::size_t>(chosen)); }
};

// The runs that together promise most within the budget, and which of them to start. Points are added greedily by
// q-EI at the last epoch times the probability of success, each with its conservative stop and its incremental cost,
// while they are affordable. If the budget does not pay for the first one, it gets as many epochs as it does pay, or,
// if these are too few, the next best takes its place. The one with the largest expected improvement per cost at its
// stop is chosen. `slopes` is the constraint on the model's curves.
Horizon plan_horizon(const HorizonProblem& problem,
                     const HorizonOptions& options,
                     const SlopeConstraint& slopes,
                     Rng& rng);

// The same on given base samples: everything random is fixed, but for the search of the cube.
Horizon plan_horizon(const HorizonProblem& problem,
                     const HorizonOptions& options,
                     const SlopeConstraint& slopes,
                     const BaseSamples& base,
                     Rng& rng);

}  // namespace bapi
