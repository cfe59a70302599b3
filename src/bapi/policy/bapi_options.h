#pragma once

#include <string>
#include <vector>

#include "bapi/policy/initial_design.h"
#include "bapi/policy/models.h"
#include "bapi/policy/planning.h"
#include "bapi/policy/registry.h"

namespace bapi {

// How a chosen run is carried through: by which of two policies.
enum class BapiLoop {
  rungs,  // Bapi: train to the next rung, then choose again among new and all paused configurations
  plan,   // PaperPlan: train to the conservative stop of the plan, looking every p epochs whether to end early
};

// What a run has to improve on to count (Bapi).
enum class BapiTarget {
  reachable,  // what the rest of the budget may be expected to reach: bold while there is much of it
  incumbent,  // the best value so far
};

inline constexpr int kLongestHorizon = 16;

struct BapiOptions {
  BapiLoop loop = BapiLoop::rungs;

  PlanOptions plan = {};  // of PaperPlan, and of whoever asks for a plan
  ModelOptions model = {};
  InitialDesign design{.epochs = 0.1, .budget_share = 0.25, .until_told_apart = true};

  // Bapi alone.
  double rung_ratio = 2.0;  // epochs of a rung over those of the one before
  BapiTarget target = BapiTarget::reachable;
  bool doubt = true;  // by the wider deviation of forecasts, while the model expects nothing of anything
  bool race = false;  // by rank and without the model, while the model expects nothing of anything

  // PaperPlan alone.
  double p = 0.2;      // share of all epochs between two looks at a running trial
  double kappa = 2.0;  // how uncertain a forecast may be to end a run early
};

// Option names, defaults and ranges of the preset `name` ("bapi", "bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm").
PolicyInfo bapi_info(const std::string& name);
std::vector<std::string> bapi_presets();

// Studies of version 0.1 may set the options of the other loop, which have no effect, and choose the loop.
BapiOptions bapi_options(const PolicySpec& spec);

// The policy of the loop.
std::unique_ptr<Policy> make_bapi(const PolicySpec& spec);

}  // namespace bapi
