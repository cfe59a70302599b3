#include "bapi/policy/bapi_options.h"

#include <fmt/format.h>

#include "bapi/base/error.h"
#include "bapi/policy/options.h"

namespace bapi {
namespace {

// The paper's loop and settings. Its initial design is not stated there: runs to the share p of the epochs, and the two
// best of them to the end, so that asymptotes are seen, and of good runs.
BapiOptions paper(int horizon) {
  BapiOptions options;
  options.loop = BapiLoop::plan;
  options.horizon = horizon;
  options.epsilon = 0.01;
  options.initial_epochs = options.p;
  options.initial_full_runs = 2;
  options.initial_share = 1.0;
  options.model.own_term = false;
  options.model.clip = false;
  options.model.warp = false;
  options.model.points = PointRule::greedy;
  return options;
}

BapiOptions preset(const std::string& name) {
  if (name == "bapi") return {};
  if (name == "bapi-4") return paper(4);
  if (name == "bapi-8") return paper(8);
  BapiOptions options = paper(4);
  if (name == "bapi-4-l") {
    options.model.points = PointRule::last;
    return options;
  }
  if (name == "bapi-4-nm") {
    options.model.monotone = Monotonicity::off;
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

const char* word(bool on) { return on ? "on" : "off"; }

const char* word(BapiTarget target) { return target == BapiTarget::reachable ? "reachable" : "incumbent"; }

const char* word(Reached reached) { return reached == Reached::known ? "known" : "noisy"; }

const char* word(PointRule rule) {
  return rule == PointRule::rungs ? "rungs" : rule == PointRule::greedy ? "greedy" : "last";
}

PointRule point_rule(const std::string& text) {
  return text == "rungs" ? PointRule::rungs : text == "greedy" ? PointRule::greedy : PointRule::last;
}

const char* word(CostForm form) {
  return form == CostForm::log_rate ? "log-rate" : form == CostForm::linear_mean ? "linear" : "literal";
}

CostForm cost_form(const std::string& text) {
  return text == "log-rate" ? CostForm::log_rate : text == "linear" ? CostForm::linear_mean : CostForm::literal;
}

const char* word(TimeChoice choice) {
  return choice == TimeChoice::exponential_decay ? "ed" : choice == TimeChoice::rbf ? "rbf" : "auto";
}

TimeChoice time_choice(const std::string& text) {
  return text == "ed" ? TimeChoice::exponential_decay : text == "rbf" ? TimeChoice::rbf : TimeChoice::by_evidence;
}

const char* word(BatchScore score) {
  return score == BatchScore::improvement ? "ei" : score == BatchScore::upper_bound ? "ucb" : "pi";
}

BatchScore batch_score(const std::string& text) {
  return text == "ei" ? BatchScore::improvement : text == "ucb" ? BatchScore::upper_bound : BatchScore::probability;
}

}  // namespace

std::vector<std::string> bapi_presets() { return {"bapi", "bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm"}; }

PolicyInfo bapi_info(const std::string& name) {
  const BapiOptions d = preset(name);
  return {
      .name = name,
      .summary = summary_of(name),
      .options = {
          {"loop",
           d.loop == BapiLoop::rungs ? "rungs" : "plan",
           "re-decide at every rung, or run to the stop of the plan"},
          {"horizon",
           fmt::format("{}", d.horizon),
           "runs that a plan looks ahead, in the plan loop and in `bapi plan`; 1 to 16"},
          {"epsilon",
           d.epsilon ? fmt::format("{}", *d.epsilon) : "auto",
           "tolerance of the conservative stop as a share of the range of values, bad ones clipped; auto or 0 to 1"},
          {"p", fmt::format("{}", d.p), "share of all epochs between two looks at a run (plan loop); 0.01 to 1"},
          {"kappa", fmt::format("{}", d.kappa), "how uncertain a forecast may be to end a run (plan loop); 0.1 to 100"},
          {"rung_ratio",
           fmt::format("{}", d.rung_ratio),
           "epochs of a rung over the one before (rungs loop); 1.1 to 10"},
          {"target",
           word(d.target),
           "what a run must improve on: reachable with the rest of the budget, or the incumbent (rungs loop)"},
          {"reached",
           word(d.reached),
           "a paused run goes on from where it is (known), or from where the model sees it (noisy) (rungs loop)"},
          {"points", word(d.model.points), "epochs of a curve that become data: rungs, greedy (up to 3) or last"},
          {"time_kernel", word(d.model.time), "ed, rbf, or auto: by evidence"},
          {"monotone",
           word(d.model.monotone == Monotonicity::on),
           "curves must not fall in forecasts and stops; on or off"},
          {"acquisition", word(d.acquisition), "score of a plan, in the plan loop and in `bapi plan`: ei, ucb or pi"},
          {"initial_runs", "auto", "runs before the first plan; auto (parameters + 1) or 1 to 1000"},
          {"initial_epochs", fmt::format("{}", d.initial_epochs), "share of all epochs that these get; 0.001 to 1"},
          {"initial_full_runs",
           fmt::format("{}", d.initial_full_runs),
           "of these, the best so many are trained on to the end; 0 to 1000"},
          {"initial_share", fmt::format("{}", d.initial_share), "of the budget that these may use; 0.01 to 1"},
          {"own_term", word(d.model.own_term), "what is not smooth in the parameters is a trial's own; on or off"},
          {"clip", word(d.model.clip), "raise values far below the median; on or off"},
          {"warp", word(d.model.warp), "values count by the log of their distance from the best; on or off"},
          {"cost_model", word(d.model.cost), "log-rate, linear or literal"},
          {"max_rows", fmt::format("{}", d.model.max_rows), "data rows before thinning; 20 to 1500"}}};
}

BapiOptions bapi_options(const PolicySpec& spec) {
  BapiOptions o = preset(spec.name);
  const PolicyInfo info = bapi_info(spec.name);
  const OptionReader read(spec, info);
  o.loop = read.word("loop", o.loop == BapiLoop::rungs ? "rungs" : "plan", {"rungs", "plan"}) == "rungs"
               ? BapiLoop::rungs
               : BapiLoop::plan;
  o.horizon = read.integer("horizon", o.horizon, 1, kLongestHorizon);
  o.epsilon = read.real_or("epsilon", "auto", o.epsilon, 0.0, 1.0);
  o.p = read.real("p", o.p, 0.01, 1.0);
  o.kappa = read.real("kappa", o.kappa, 0.1, 100.0);
  o.rung_ratio = read.real("rung_ratio", o.rung_ratio, 1.1, 10.0);
  o.target = read.word("target", word(o.target), {"reachable", "incumbent"}) == "reachable" ? BapiTarget::reachable
                                                                                            : BapiTarget::incumbent;
  o.reached = read.word("reached", word(o.reached), {"known", "noisy"}) == "known" ? Reached::known : Reached::noisy;
  o.model.points = point_rule(read.word("points", word(o.model.points), {"rungs", "greedy", "last"}));
  o.model.time = time_choice(read.word("time_kernel", word(o.model.time), {"ed", "rbf", "auto"}));
  o.model.monotone = read.flag("monotone", o.model.monotone == Monotonicity::on) ? Monotonicity::on : Monotonicity::off;
  o.acquisition = batch_score(read.word("acquisition", word(o.acquisition), {"ei", "ucb", "pi"}));
  o.initial_runs = read.integer_or("initial_runs", "auto", 1, 1000).value_or(0);
  o.initial_epochs = read.real("initial_epochs", o.initial_epochs, 0.001, 1.0);
  o.initial_full_runs = read.integer("initial_full_runs", o.initial_full_runs, 0, 1000);
  o.initial_share = read.real("initial_share", o.initial_share, 0.01, 1.0);
  o.model.own_term = read.flag("own_term", o.model.own_term);
  o.model.clip = read.flag("clip", o.model.clip);
  o.model.warp = read.flag("warp", o.model.warp);
  o.model.cost = cost_form(read.word("cost_model", word(o.model.cost), {"log-rate", "linear", "literal"}));
  o.model.max_rows = read.integer("max_rows", o.model.max_rows, 20, 1500);
  return o;
}

}  // namespace bapi
