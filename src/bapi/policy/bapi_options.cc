#include "bapi/policy/bapi_options.h"

#include "bapi/base/error.h"
#include "bapi/policy/bapi.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/paper_plan.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

// The paper's loop and settings. Its initial design is not stated there: runs to the share p of the epochs, and the two
// best of them to the end, so that asymptotes are seen, and of good runs.
BapiOptions paper(int horizon) {
  BapiOptions options;
  options.loop = BapiLoop::plan;
  options.plan.horizon = horizon;
  options.plan.epsilon = 0.01;
  options.plan.stop = StopBy::constrained_mean;
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
  if (name == "bapi") return "trains what should improve most per unit of cost (the default)";
  if (name == "bapi-4") return "the paper's method: plans 4 trials ahead, with conservative stops";
  if (name == "bapi-8") return "the paper's method, planning 8 trials ahead";
  if (name == "bapi-4-l") return "bapi-4 with only the last point of each curve as data";
  return "bapi-4 without the assumption that curves only improve";
}

std::vector<std::pair<std::string, std::optional<TimeKind>>> time_kernels() {
  std::vector<std::pair<std::string, std::optional<TimeKind>>> words;
  for (const TimeKind kind : kCurveKinds) words.emplace_back(form_of(kind).name(), kind);
  words.emplace_back("auto", std::nullopt);
  return words;
}

std::string time_kernels_help() {
  std::string help = "kernel over epochs: ";
  for (const TimeKind kind : kCurveKinds) {
    const std::string_view explained = form_of(kind).long_name();
    help += form_of(kind).name();
    help += explained.empty() ? ", " : fmt::format(" ({}), ", explained);
  }
  return help + "or auto (by evidence)";
}

std::vector<std::pair<std::string, std::string_view>> surrogates() {
  std::vector<std::pair<std::string, std::string_view>> words;
  for (const CurveSurrogateKind& kind : curve_surrogates()) words.emplace_back(kind.name, kind.name);
  return words;
}

std::string surrogates_help() {
  std::string help = "model of learning curves:";
  for (const CurveSurrogateKind& kind : curve_surrogates()) help += fmt::format(" {} ({})", kind.name, kind.long_name);
  return help;
}

using Table = OptionTable<BapiOptions>;

void add_loop(Table& table) {
  table
      .word<BapiLoop>(
          "loop",
          [](BapiOptions & o) -> auto& { return o.loop; },
          {{"rungs", BapiLoop::rungs}, {"plan", BapiLoop::plan}},
          "decide at every rung, or train to the stop of the plan")
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
      "ratio of a rung's epochs to those of the rung before"));
  add(table.word<BapiTarget>(
      "target",
      [](BapiOptions & o) -> auto& { return o.target; },
      {{"reachable", BapiTarget::reachable}, {"incumbent", BapiTarget::incumbent}},
      "what a trial must improve on: the value the remaining budget should reach, or the best so far"));
  add(table.word<Reached>(
      "reached",
      [](BapiOptions & o) -> auto& { return o.model.reached; },
      {{"known", Reached::known}, {"noisy", Reached::noisy}},
      "a paused trial continues from its last value (known) or from the model's estimate (noisy)"));
}

// Of Bapi alone, and younger than the studies that may have set options of the other loop.
void add_safeguards(Table& table) {
  table
      .flag(
          "late_starters",
          [](BapiOptions & o) -> auto& { return o.design.until_told_apart; },
          "train initial trials further while their values do not tell them apart")
      .flag(
          "doubt",
          [](BapiOptions & o) -> auto& { return o.doubt; },
          "judge by the wider uncertainty of forecasts while the model expects no improvement")
      .flag(
          "race",
          [](BapiOptions & o) -> auto& { return o.race; },
          "race without the model while it expects no improvement");
}

void add_looks(Table& table, OptionUse use) {
  const auto add = [&](Table& with) {
    if (use == OptionUse::retired) with.retired();
  };
  add(table.real(
      "p",
      [](BapiOptions & o) -> auto& { return o.p; },
      0.01,
      1.0,
      "share of all epochs between two checks of a trial"));
  add(table.real(
      "kappa",
      [](BapiOptions & o) -> auto& { return o.kappa; },
      0.1,
      100.0,
      "how uncertain a forecast may be for a trial to end early"));
}

void add_plan(Table& table, const std::string& where) {
  table
      .integer(
          "horizon",
          [](BapiOptions & o) -> auto& { return o.plan.horizon; },
          1,
          kLongestHorizon,
          "trials planned ahead" + where)
      .real_or(
          "epsilon",
          [](BapiOptions & o) -> auto& { return o.plan.epsilon; },
          "auto",
          0.0,
          1.0,
          "tolerance of the conservative stop, as a share of the range of values (bad ones clipped)")
      .word<BatchScore>(
          "acquisition",
          [](BapiOptions & o) -> auto& { return o.plan.acquisition; },
          {{"ei", BatchScore::improvement}, {"ucb", BatchScore::upper_bound}, {"pi", BatchScore::probability}},
          "score of a plan" + where + ": ei, ucb or pi");
}

void add_design(Table& table) {
  table
      .part(
          initial_runs_option(), [](BapiOptions & o) -> auto& { return o.design; })
      .real(
          "initial_epochs",
          [](BapiOptions & o) -> auto& { return o.design.epochs; },
          0.001,
          1.0,
          "share of all epochs that each of these trials gets")
      .integer(
          "initial_full_runs",
          [](BapiOptions & o) -> auto& { return o.design.full_runs; },
          0,
          1000,
          "how many of the best of them are trained to the end")
      .real(
          "initial_share",
          [](BapiOptions & o) -> auto& { return o.design.budget_share; },
          0.01,
          1.0,
          "share of the budget they may use");
}

void add_models(Table& table) {
  table
      .word<PointRule>(
          "points",
          [](BapiOptions & o) -> auto& { return o.model.curves.points; },
          {{"rungs", PointRule::rungs}, {"greedy", PointRule::greedy}, {"last", PointRule::last}},
          "epochs of a curve used as data: rungs, greedy (up to 3) or last")
      .word<std::optional<TimeKind>>(
          "time_kernel",
          [](BapiOptions & o) -> auto& { return o.model.curves.time; },
          time_kernels(),
          time_kernels_help())
      .flag(
          "monotone",
          [](BapiOptions & o) -> auto& { return o.model.curves.monotone; },
          Monotonicity::on,
          Monotonicity::off,
          "assume that curves only improve")
      .flag(
          "own_term",
          [](BapiOptions & o) -> auto& { return o.model.curves.own_term; },
          "give each trial a term of its own for what is not smooth in the parameters")
      .flag(
          "clip", [](BapiOptions & o) -> auto& { return o.model.curves.clip; }, "raise values far below the median")
      .flag(
          "warp",
          [](BapiOptions & o) -> auto& { return o.model.curves.warp; },
          "measure values by the log of their distance from the best")
      .word<CostForm>(
          "cost_model",
          [](BapiOptions & o) -> auto& { return o.model.cost; },
          {{"log-rate", CostForm::log_rate}, {"linear", CostForm::linear_mean}, {"literal", CostForm::literal}},
          "model of costs: log-rate, linear or literal (as in the paper)")
      .flag(
          "earlier_curves",
          [](BapiOptions & o) -> auto& { return o.model.earlier_curves; },
          "learn from the curves of earlier studies that a warm start names, not from their best configurations alone")
      .integer(
          "max_rows",
          [](BapiOptions & o) -> auto& { return o.model.curves.max_rows; },
          20,
          1500,
          "rows of data before the worst trials are thinned out");
}

// Not shown while there is nothing to choose from.
void add_surrogates(Table& table) {
  table.word<std::string_view>(
      "surrogate", [](BapiOptions & o) -> auto& { return o.model.curves.surrogate; }, surrogates(), surrogates_help());
  if (curve_surrogates().size() == 1) table.retired();
}

// The options of one loop; those of the other are retired.
const Table& table_of(BapiLoop loop) {
  const auto make = [](BapiLoop of) {
    Table table;
    const bool rungs = of == BapiLoop::rungs;
    add_rungs(table, rungs ? OptionUse::current : OptionUse::retired);
    if (rungs) add_safeguards(table);
    add_looks(table, rungs ? OptionUse::retired : OptionUse::current);
    add_plan(table, rungs ? " in `bapi plan`" : "");
    add_design(table);
    add_models(table);
    add_surrogates(table);
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
