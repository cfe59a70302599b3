#include "bapi/policy/bapi_options.h"

#include "bapi/base/error.h"
#include "bapi/policy/bapi.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/paper_plan.h"

namespace bapi {
namespace {

// The paper's loop and settings. Its initial design is not stated there: runs to the share p of the epochs, and the two
// best of them to the end, so that asymptotes are seen, and of good runs.
BapiOptions paper(int horizon) {
  BapiOptions options;
  options.loop = BapiLoop::plan;
  options.plan.horizon = horizon;
  options.plan.epsilon = 0.01;
  options.design = {.epochs = options.p, .full_runs = 2, .budget_share = 1.0};
  options.model.curves.own_term = false;
  options.model.curves.clip = false;
  options.model.curves.warp = false;
  options.model.curves.points = PointRule::greedy;
  return options;
}

BapiOptions preset(const std::string& name) {
  if (name == "bapi") return {};
  if (name == "bapi-4") return paper(4);
  if (name == "bapi-8") return paper(8);
  BapiOptions options = paper(4);
  if (name == "bapi-4-l") {
    options.model.curves.points = PointRule::last;
    return options;
  }
  if (name == "bapi-4-nm") {
    options.model.curves.monotone = Monotonicity::off;
    return options;
  }
  throw LogicError("bapi_options: unknown preset");
}

std::string summary_of(const std::string& name) {
  if (name == "bapi") return "plans with the remaining budget, re-decides at every rung among new and paused runs";
  if (name == "bapi-4") return "the paper's loop: greedy horizon of 4, conservative stops, early termination";
  if (name == "bapi-8") return "the paper's loop with a horizon of 8";
  if (name == "bapi-4-l") return "the paper's loop, only the last point of each curve as data";
  return "the paper's loop without the monotonicity constraint";
}

std::vector<std::pair<std::string, std::optional<TimeKind>>> time_kernels() {
  std::vector<std::pair<std::string, std::optional<TimeKind>>> words;
  for (const TimeKind kind : kCurveKinds) words.emplace_back(form_of(kind).name(), kind);
  words.emplace_back("auto", std::nullopt);
  return words;
}

using Table = OptionTable<BapiOptions>;

void add_loop(Table& table) {
  table
      .word<BapiLoop>(
          "loop",
          [](BapiOptions & o) -> auto& { return o.loop; },
          {{"rungs", BapiLoop::rungs}, {"plan", BapiLoop::plan}},
          "re-decide at every rung, or run to the stop of the plan")
      .retired();
}

void add_rungs(Table& table, OptionUse use) {
  const auto add = [&](Table& with) {
    if (use == OptionUse::retired) with.retired();
  };
  add(table.real(
      "rung_ratio",
      [](BapiOptions & o) -> auto& { return o.rung_ratio; },
      1.1,
      10.0,
      "epochs of a rung over the one before"));
  add(table.word<BapiTarget>(
      "target",
      [](BapiOptions & o) -> auto& { return o.target; },
      {{"reachable", BapiTarget::reachable}, {"incumbent", BapiTarget::incumbent}},
      "what a run must improve on: reachable with the rest of the budget, or the incumbent"));
  add(table.word<Reached>(
      "reached",
      [](BapiOptions & o) -> auto& { return o.reached; },
      {{"known", Reached::known}, {"noisy", Reached::noisy}},
      "a paused trial continues from its last value (known) or from the model's estimate (noisy)"));
}

void add_looks(Table& table, OptionUse use) {
  const auto add = [&](Table& with) {
    if (use == OptionUse::retired) with.retired();
  };
  add(table.real(
      "p", [](BapiOptions & o) -> auto& { return o.p; }, 0.01, 1.0, "share of all epochs between two looks at a run"));
  add(table.real(
      "kappa",
      [](BapiOptions & o) -> auto& { return o.kappa; },
      0.1,
      100.0,
      "how uncertain a forecast may be to end a run"));
}

void add_plan(Table& table, const std::string& where) {
  table
      .integer(
          "horizon",
          [](BapiOptions & o) -> auto& { return o.plan.horizon; },
          1,
          kLongestHorizon,
          "runs that a plan looks ahead" + where)
      .real_or(
          "epsilon",
          [](BapiOptions & o) -> auto& { return o.plan.epsilon; },
          "auto",
          0.0,
          1.0,
          "tolerance of the conservative stop as a share of the range of values, bad ones clipped")
      .word<BatchScore>(
          "acquisition",
          [](BapiOptions & o) -> auto& { return o.plan.acquisition; },
          {{"ei", BatchScore::improvement}, {"ucb", BatchScore::upper_bound}, {"pi", BatchScore::probability}},
          "score of a plan" + where + ": ei, ucb or pi");
}

void add_design(Table& table) {
  table
      .integer_or(
          "initial_runs",
          [](BapiOptions & o) -> auto& { return o.design.runs; },
          "auto",
          1,
          1000,
          "runs before the first model, auto: parameters + 1")
      .real(
          "initial_epochs",
          [](BapiOptions & o) -> auto& { return o.design.epochs; },
          0.001,
          1.0,
          "share of all epochs that these get")
      .integer(
          "initial_full_runs",
          [](BapiOptions & o) -> auto& { return o.design.full_runs; },
          0,
          1000,
          "of these, the best so many are trained on to the end")
      .real(
          "initial_share",
          [](BapiOptions & o) -> auto& { return o.design.budget_share; },
          0.01,
          1.0,
          "of the budget that these may use");
}

void add_models(Table& table) {
  table
      .word<PointRule>(
          "points",
          [](BapiOptions & o) -> auto& { return o.model.curves.points; },
          {{"rungs", PointRule::rungs}, {"greedy", PointRule::greedy}, {"last", PointRule::last}},
          "epochs of a curve that become data: rungs, greedy (up to 3) or last")
      .word<std::optional<TimeKind>>(
          "time_kernel",
          [](BapiOptions & o) -> auto& { return o.model.curves.time; },
          time_kernels(),
          "ed, rbf, or auto: by evidence")
      .flag(
          "monotone",
          [](BapiOptions & o) -> auto& { return o.model.curves.monotone; },
          Monotonicity::on,
          Monotonicity::off,
          "curves must not fall in forecasts and stops")
      .flag(
          "own_term",
          [](BapiOptions & o) -> auto& { return o.model.curves.own_term; },
          "what is not smooth in the parameters is a trial's own")
      .flag(
          "clip", [](BapiOptions & o) -> auto& { return o.model.curves.clip; }, "raise values far below the median")
      .flag(
          "warp",
          [](BapiOptions & o) -> auto& { return o.model.curves.warp; },
          "values count by the log of their distance from the best")
      .word<CostForm>(
          "cost_model",
          [](BapiOptions & o) -> auto& { return o.model.cost; },
          {{"log-rate", CostForm::log_rate}, {"linear", CostForm::linear_mean}, {"literal", CostForm::literal}},
          "log-rate, linear or literal")
      .integer(
          "max_rows",
          [](BapiOptions & o) -> auto& { return o.model.curves.max_rows; },
          20,
          1500,
          "data rows before thinning");
}

// The options of one loop; those of the other are retired.
const Table& table_of(BapiLoop loop) {
  const auto make = [](BapiLoop of) {
    Table table;
    const bool rungs = of == BapiLoop::rungs;
    add_rungs(table, rungs ? OptionUse::current : OptionUse::retired);
    add_looks(table, rungs ? OptionUse::retired : OptionUse::current);
    add_plan(table, rungs ? " in `bapi plan`" : "");
    add_design(table);
    add_models(table);
    add_loop(table);
    return table;
  };
  static const Table rungs = make(BapiLoop::rungs);
  static const Table plan = make(BapiLoop::plan);
  return loop == BapiLoop::rungs ? rungs : plan;
}

}  // namespace

std::vector<std::string> bapi_presets() { return {"bapi", "bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm"}; }

PolicyInfo bapi_info(const std::string& name) {
  const BapiOptions defaults = preset(name);
  return {.name = name, .summary = summary_of(name), .options = table_of(defaults.loop).describe(defaults)};
}

BapiOptions bapi_options(const PolicySpec& spec) {
  const BapiOptions defaults = preset(spec.name);
  BapiOptions options = table_of(defaults.loop).read(spec, defaults);
  if (options.loop == BapiLoop::plan) options.plan.first_look = options.p;
  return options;
}

std::unique_ptr<Policy> make_bapi(const PolicySpec& spec) {
  BapiOptions options = bapi_options(spec);
  if (options.loop == BapiLoop::rungs) return std::make_unique<Bapi>(spec.name, std::move(options));
  return std::make_unique<PaperPlan>(spec.name, std::move(options));
}

}  // namespace bapi
