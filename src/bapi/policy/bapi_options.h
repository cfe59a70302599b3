#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bapi/acquisition/batch_improvement.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/policy/initial_design.h"
#include "bapi/policy/models.h"
#include "bapi/policy/registry.h"

namespace bapi {

// How a chosen run is carried through.
enum class BapiLoop {
  rungs,  // freeze-thaw: train to the next rung, then choose again among new and all paused configurations
  plan,   // the paper: train to the conservative stop of the plan, looking every p epochs whether to end early
};

// What a run has to improve on to count (rungs loop).
enum class BapiTarget {
  reachable,  // what the rest of the budget may be expected to reach: bold while there is much of it
  incumbent,  // the best value so far
};

// How the value that a paused trial has reached enters forecasts of its further course (rungs loop).
enum class Reached {
  known,  // as well as the fluctuation of curves allows
  noisy,  // as one more observation of the model
};

inline constexpr int kLongestHorizon = 16;

struct BapiOptions {
  BapiLoop loop = BapiLoop::rungs;

  int horizon = 4;                // runs that a plan looks ahead, 1 to kLongestHorizon
  std::optional<double> epsilon;  // tolerance of the conservative stop, as a share of the range of values; auto if none
  double p = 0.2;                 // share of all epochs between two looks at a running trial (plan loop)
  double kappa = 2.0;             // how uncertain a forecast may be to end a run early (plan loop)
  double rung_ratio = 2.0;        // epochs of a rung over those of the one before (rungs loop)
  BapiTarget target = BapiTarget::reachable;
  Reached reached = Reached::known;
  BatchScore acquisition = BatchScore::improvement;

  double initial_epochs = 0.1;  // share of all epochs that the initial runs get
  int initial_full_runs = 0;    // the best so many of them are trained on to the end
  int initial_runs = 0;         // 0: one more than there are parameters
  double initial_share = 0.25;  // of the budget that the initial runs may use at most

  ModelOptions model;

  InitialDesign initial_design() const {
    return {
        .runs = initial_runs, .epochs = initial_epochs, .full_runs = initial_full_runs, .budget_share = initial_share};
  }
};

// Option names, defaults and ranges of the preset `name` ("bapi", "bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm").
PolicyInfo bapi_info(const std::string& name);
std::vector<std::string> bapi_presets();
BapiOptions bapi_options(const PolicySpec& spec);

}  // namespace bapi
