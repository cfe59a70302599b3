#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/policy/decision_event.h"
#include "bapi/policy/models.h"
#include "bapi/policy/registry.h"
#include "bapi/policy/rivals/bohb.h"
#include "bapi/policy/rivals/full_runs.h"
#include "report.h"
#include "synthetic.h"
#include "timing.h"

// Time of one decision on one thread, d = 6, no pool, values from a random-Fourier Gaussian process. As a
// floor stands what no policy of its kind can do without: fitting the models once, and for bohb the decision of random
// search.
namespace bapi::bench {
namespace {

constexpr int kDim = 6;
constexpr Epoch kEpochs = 27;

// Curves that rise towards the value of their configuration at its own price.
class Trainer {
 public:
  explicit Trainer(History& history) : history_(history), value_(kDim, 0.4, rng_) {}

  int observations() const { return observations_; }

  // Carries a decision out at once.
  void obey(const Decision& decision) {
    std::visit(Match{[&](const Start& start) {
                       const TrialId id{std::ssize(history_.trials())};
                       history_.apply(event_of(start, id));
                       train(id, start.until);
                     },
                     [&](const Resume& resume) {
                       history_.apply(event_of(resume));
                       train(resume.trial, resume.until);
                     },
                     [&](const Stop& stop) { history_.apply(event_of(stop)); },
                     [](const auto&) {}},
               decision);
  }

 private:
  void train(TrialId id, Epoch until) {
    const Vector x = history_.spec().space.encode(history_.trial(id).config);
    for (Epoch t = history_.trial(id).curve.last_epoch() + 1; t <= until; ++t) {
      history_.apply(Measured{id, {t, value_(x) - 1.0 / t, 1.0 + x[0] + x[1]}});
    }
    history_.apply(SegmentDone{id});
    ++observations_;
  }

  History& history_;
  int observations_ = 0;
  Rng rng_{3};
  RandomFourierFunction value_;
};

History empty_history() {
  std::vector<Param> params;
  for (int j = 0; j < kDim; ++j)
    params.push_back({.name = std::string(1, static_cast<char>('a' + j)), .domain = RealRange{}});
  StudySpec spec{.name = "bench"};
  spec.budget = {.limit = 1e6, .meter = Meter::reported};
  spec.epochs = {.min = 1, .max = kEpochs};
  spec.space = Space(params);
  return History(spec);
}

// What `policy` has seen when it had so many runs trained to where it wanted them and starts a new one next.
History history_of(const std::string& policy, int observations) {
  History history = empty_history();
  Trainer trainer(history);
  const std::unique_ptr<Policy> decide = make_policy({.name = policy});
  for (std::uint64_t i = 0;; ++i) {
    Rng rng(i);
    const Decision decision = decide->ask(history, rng);
    if (trainer.observations() >= observations && std::holds_alternative<Start>(decision)) return history;
    trainer.obey(decision);
  }
}

// More than the initial design of any policy: what is asked next is answered by its model.
constexpr int kOwnDecisions = 30;

// What `policy` has seen after its initial design, and further configurations drawn at random, each paused after 8
// epochs, up to so many trials.
History paused_runs(const std::string& policy, int trials) {
  History history = empty_history();
  Trainer trainer(history);
  const std::unique_ptr<Policy> decide = make_policy({.name = policy});
  for (int i = 0; i < kOwnDecisions; ++i) {
    Rng rng(static_cast<std::uint64_t>(i));
    trainer.obey(decide->ask(history, rng));
  }
  for (int i = static_cast<int>(std::ssize(history.trials())); i < trials; ++i) {
    Rng rng(static_cast<std::uint64_t>(i));
    trainer.obey(Start{.config = history.spec().space.sample(rng), .until = 8});
  }
  return history;
}

void ask(benchmark::State& state, const PolicySpec& spec, const History& history, int n, double floor, double target) {
  const std::unique_ptr<Policy> policy = make_policy(spec);
  Decision decision;
  for (auto _ : state) {
    Rng rng(7);
    decision = policy->ask(history, rng);
    benchmark::DoNotOptimize(decision);
  }
  const bool decided = !std::holds_alternative<Wait>(decision) && !std::holds_alternative<Finish>(decision);
  if (!decided) state.SkipWithError("the policy had nothing to decide");
  state.counters["n"] = n;
  state.counters["floor_s"] = floor;
  state.counters["target_s"] = target;
}

template <typename Body>
void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1)
      ->Repetitions(3)
      ->ComputeStatistics("min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); })
      ->ReportAggregatesOnly(true);
}

void register_all() {
  const History many = history_of("bohb", 1000);
  check(Bohb({.name = "bohb"}).model_data(many).has_value(), "bohb: no rung has enough results for a model");
  const double drawing = best_seconds(20, [&] {
    Rng rng(7);
    benchmark::DoNotOptimize(make_policy({.name = "random"})->ask(many, rng));
  });
  add("bohb", [=](benchmark::State& s) {
    ask(s, {.name = "bohb", .options = {{"random_fraction", 0.0}}}, many, 1000, drawing, 1e-3);
  });

  const auto both_fits = [](const History& history) {
    return best_seconds(20, [&] {
      Rng rng(7);
      benchmark::DoNotOptimize(fit_models(Evidence(history), {}, rng));
    });
  };
  // Rows of data per paused run: epochs 1, 2, 4 and 8 for bapi, at most three for bapi-4.
  const std::vector<std::pair<int, double>> sizes = {{50, 0.01}, {100, 0.02}, {200, 0.06}, {400, 0.22}, {800, 1.3}};
  for (const auto& [n, target] : sizes) {
    for (const auto& [name, rows] : {std::pair{"bapi", 4}, std::pair{"bapi-4", 3}}) {
      const History paused = paused_runs(name, n / rows);
      const double floor = both_fits(paused);
      add(fmt::format("{}, {} rows", name, n), [=, n = n, name = name, target = target](benchmark::State& s) {
        ask(s, {.name = name}, paused, n, floor, target);
      });
    }
  }
  const History thousands = paused_runs("bapi", 5000);
  const double floor = both_fits(thousands);
  add("bapi, 5,000 trials", [=](benchmark::State& s) { ask(s, {.name = "bapi"}, thousands, 5000, floor, 2.0); });

  struct Case {
    PolicySpec policy;
    std::string name;
    double target;
  };
  const std::string mean = "mean";
  const std::vector<Case> cases = {
      {{.name = "ei"}, "ei", 0.0},
      {{.name = "ms-ei", .options = {{"fantasies", mean}}}, "ms-ei, path of means", 0.0},
      {{.name = "ms-ei-2"}, "ms-ei-2", 0.0},
      {{.name = "ms-ei"}, "ms-ei", 1.0},
      {{.name = "bms-ei"}, "bms-ei", 0.3},
      {{.name = "binoculars"}, "binoculars", 0.0},
      {{.name = "glasses"}, "glasses", 0.0},
      {{.name = "boil"}, "boil", 0.0},
  };
  const int n = 60;
  const History full_runs = history_of("random", n);
  const double fitting = best_seconds(20, [&] {
    Rng rng(7);
    benchmark::DoNotOptimize(fit_configurations(Evidence(full_runs), rng));
  });
  for (const Case& each : cases) {
    add(each.name, [=](benchmark::State& s) { ask(s, each.policy, full_runs, n, fitting, each.target); });
  }
}

}  // namespace
}  // namespace bapi::bench

int main(int argc, char** argv) { return bapi::bench::run_benchmarks(argc, argv, bapi::bench::register_all); }
