// What came true of the forecasts that decisions were made by, on recorded curves:
//
//   bench_decisions POLICY BUDGET SEEDS TABLE... > decisions.csv
//
// POLICY is bapi or another preset of it, BUDGET is as in `bapi compare`; seeds count from 0. One line for each
// decision to train that came with a forecast: fit_tails.py makes the laws of errors of it. The models of every
// decision are fitted once more, so that a line has what the log does not keep: the mean and the deviation on the scale
// of the model, and where what came true lies on it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>

#include "bapi/base/error.h"
#include "bapi/model/spread.h"
#include "bapi/policy/bapi_options.h"
#include "bapi/policy/calibration.h"
#include "bapi/policy/candidates.h"
#include "bapi/studies/table_input.h"
#include "bapi/study/direction.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/table_budget.h"

namespace bapi {
namespace {

// The forecast of a decision on the scale of the model.
struct Standardised {
  ResponseScale scale;
  double mean = 0.0;
  double sd = 0.0;
  double reached = -std::numeric_limits<double>::infinity();
};

const Reason* reason_with_forecast(const Decision& decision) {
  const Reason* why = nullptr;
  if (const auto* start = std::get_if<Start>(&decision)) why = &start->why;
  if (const auto* resume = std::get_if<Resume>(&decision)) why = &resume->why;
  return why && why->forecast && why->forecast->basis ? why : nullptr;
}

// Asks a policy, and fits the models of its decision again.
class Recorder : public Policy {
 public:
  Recorder(Policy& policy, BapiOptions options) : policy_(policy), options_(std::move(options)) {}
  std::string_view name() const override { return policy_.name(); }

  Decision ask(const History& history, Rng& rng) override {
    Decision decision = policy_.ask(history, rng);
    if (const Reason* why = reason_with_forecast(decision)) record(history, decision, *why, rng);
    return decision;
  }

  const std::vector<Standardised>& forecasts() const { return forecasts_; }

 private:
  void record(const History& history, const Decision& decision, const Reason& why, const Rng& rng) {
    const Evidence evidence(history);
    Rng stream = rng.fork("models");
    const Models models = fit_models(evidence, options_.model, stream);
    const auto* resume = std::get_if<Resume>(&decision);
    const CurveAt at = resume ? evidence.at(history.trial(resume->trial))
                              : new_candidate(history, std::get<Start>(decision).config, 0).at();
    const Epoch then = why.forecast->epoch;
    const double sd = why.forecast->basis->sd;
    Standardised said{.scale = models.scale, .mean = why.forecast->basis->mean};
    if (options_.loop == BapiLoop::rungs) {
      said.sd = models.expected({at}, {then}).sd[0];
    } else {
      // A look at a trial counts the noise already.
      said.sd = why.rule == Rule::to_conservative_stop ? spread_factor(at.done, then) * sd
                                                       : models.measured_sd(sd, at.done, then);
    }
    if (const std::optional<double> floor = models.floor_of(at.group, at.done)) said.reached = *floor;
    forecasts_.push_back(said);
  }

  Policy& policy_;
  BapiOptions options_;
  std::vector<Standardised> forecasts_;
};

// The decisions that Recorder has recorded, as they are in the log.
std::vector<TrainingDecision> decisions_with_forecasts(const std::vector<StoredEvent>& events) {
  std::vector<TrainingDecision> decisions = training_decisions(events);
  std::erase_if(decisions, [](const TrainingDecision& decision) {
    return !decision.why->forecast || !decision.why->forecast->basis;
  });
  return decisions;
}

void tell(const CurveTable& table, const PolicySpec& spec, const TableBudget& budget, std::uint64_t seed) {
  const std::unique_ptr<Policy> policy = make_policy(spec);
  Recorder recorder(*policy, bapi_options(spec));
  const SimulationSummary summary = simulate(table, spec, recorder, {.budget = budget.on(table), .seed = seed});
  const std::vector<TrainingDecision> decisions = decisions_with_forecasts(summary.events);
  check(decisions.size() == recorder.forecasts().size(), "bench_decisions: a decision is not in the log");
  const std::vector<ForecastOutcome> outcomes =
      forecast_outcomes(*summary.history, decisions, [&](const Config& config) { return table.run_of(config).value; });
  constexpr double kNone = -1e9;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const TrainingDecision& decision = decisions[i];
    const Standardised& said = recorder.forecasts()[i];
    const Reason& why = *decision.why;
    const double value = outcomes[i].value ? said.scale.apply(oriented(*outcomes[i].value, table.metric.goal)) : kNone;
    const double log_sd = why.price ? why.price->log_sd.value_or(0.0) : 0.0;
    const bool paid = outcomes[i].cost && *outcomes[i].cost > 0.0 && decision.expected_cost > 0.0;
    fmt::print("{},{},{},{},{},{},{},{},{},{},{:.7g},{:.7g},{:.7g},{:.7g},{:.7g},{:.7g}\n",
               table.name,
               spec.name,
               budget.text(),
               seed,
               i,
               index(decision.trial),
               decision.from,
               decision.until,
               why.forecast->epoch,
               table.max_epoch,
               said.mean,
               said.sd,
               std::max(kNone, said.reached),
               value,
               paid ? std::log(*outcomes[i].cost / decision.expected_cost) : kNone,
               log_sd);
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace bapi

int main(int argc, char** argv) {
  try {
    bapi::require(argc > 4, "usage: bench_decisions POLICY BUDGET SEEDS TABLE...");
    const bapi::PolicySpec policy{.name = argv[1]};
    const bapi::TableBudget budget = bapi::parse_table_budget(argv[2]);
    fmt::print(
        "table,policy,budget,seed,number,trial,now,until,then,last,mean,sd,reached,value,log_cost,log_cost_sd\n");
    for (int i = 4; i < argc; ++i) {
      for (const std::string& name : bapi::table_names(argv[i])) {
        bapi::CurveTable table = bapi::load_table(name);
        table.name = name;
        for (int seed = 0; seed < std::stoi(argv[3]); ++seed) {
          bapi::tell(table, policy, budget, static_cast<std::uint64_t>(seed));
        }
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
