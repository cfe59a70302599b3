#include "bapi/policy/ms_ei.h"

#include <algorithm>
#include <cmath>

#include "bapi/acquisition/tree_search.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/full_runs.h"
#include "bapi/policy/options.h"
#include "bapi/policy/tree_choice.h"

namespace bapi {
namespace {

constexpr const char* kTwoSteps = "ms-ei-2";

// Fantasies after the first, second and third decision; one each after later ones.
constexpr int kFantasies[] = {10, 5, 3};

// Median cost of the runs that finished; has_finished_trial() must hold.
Cost full_run_cost(const History& history) {
  std::vector<Cost> costs;
  for (const Trial& trial : history.trials()) {
    if (trial.state == TrialState::completed) costs.push_back(trial.spent());
  }
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
  std::nth_element(costs.begin(), middle, costs.end());
  return *middle;
}

}  // namespace

std::vector<std::string> MultiStepImprovement::presets() { return {"ms-ei", kTwoSteps}; }

PolicyInfo MultiStepImprovement::info(const std::string& preset) {
  const bool two = preset == kTwoSteps;
  return {.name = preset,
          .summary = two ? "ms-ei that looks two full runs ahead"
                         : "expected improvement over the next four full runs, by a tree of fantasies",
          .options = {{"steps", two ? "2" : "4", "full runs to look ahead; 1 (ei) to 6"},
                      {"fantasies", "tree", "tree (10, 5 and 3 per run), mean or random (one per run: a path)"},
                      {"prune", "0.001", "fantasies of less weight are left out; 0 to 0.1"},
                      {"cap", "none", "none, or count: no further ahead than the rest of the budget has full runs"},
                      {"starts", "10", "ascents of the search over trees; 1 to 100"},
                      {"initial_runs", "auto", "runs before the first model; auto (parameters + 1) or 1 to 1000"}}};
}

MultiStepImprovement::MultiStepImprovement(const PolicySpec& spec) : name_(spec.name) {
  const OptionReader options(spec, info(spec.name));
  steps_ = options.integer("steps", name_ == kTwoSteps ? 2 : steps_, 1, 6);
  const std::string fantasies = options.word("fantasies", "tree", {"tree", "mean", "random"});
  fantasies_ = fantasies == "tree" ? Fantasies::tree : fantasies == "mean" ? Fantasies::mean : Fantasies::random_path;
  prune_ = options.real("prune", prune_, 0.0, 0.1);
  cap_steps_ = options.word("cap", "none", {"none", "count"}) == "count";
  starts_ = options.integer("starts", starts_, 1, 100);
  design_.runs = options.integer_or("initial_runs", "auto", 1, 1000).value_or(0);
}

int MultiStepImprovement::steps_ahead(const History& history) const {
  if (!cap_steps_) return steps_;
  const double left = std::floor(history.budget().remaining() / full_run_cost(history));
  return static_cast<int>(std::clamp(left, 1.0, static_cast<double>(steps_)));
}

FantasyTree MultiStepImprovement::tree(int steps, Rng& rng) const {
  std::vector<std::vector<Fantasy>> stages;
  for (int k = 0; k + 1 < steps; ++k) {
    std::vector<Fantasy> stage = {Fantasy{}};
    if (fantasies_ == Fantasies::tree && k < std::ssize(kFantasies)) {
      stage = bapi::fantasies(pruned(gauss_hermite(kFantasies[k]), prune_));
    }
    if (fantasies_ == Fantasies::random_path) stage.front().value = rng.normal();
    stages.push_back(std::move(stage));
  }
  return FantasyTree(stages);
}

Decision MultiStepImprovement::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, design_)) return *first;
  Rng model_stream = rng.fork("model");
  const ConfigurationModel model = fit_configurations(history, model_stream);
  const int steps = steps_ahead(history);
  if (steps == 1) return largest_improvement(history, model, design_, rng);

  Rng fantasy_stream = rng.fork("fantasies");
  const FantasyTree ahead = tree(steps, fantasy_stream);
  Rng search_stream = rng.fork("trees");
  const SearchObjective objective = multi_step_objective(model.gp, ahead, model.best);
  const std::optional<TreeChoice> choice =
      best_root(history, objective, ahead, tree_starts(model, ahead, search_stream), tree_ascents(starts_));
  if (!choice) return design_.next(history);
  return train(choice->root,
               history.spec().epochs.max,
               0.0,
               {.rule = Rule::multi_step_improvement,
                .forecast = forecast_full_run(history, model, choice->root.x),
                .score = score_in_metric(model.scale, model.best, choice->log_score),
                .notes = {{.kind = NoteKind::steps_ahead, .value = static_cast<double>(steps)},
                          {.kind = NoteKind::tree_nodes, .value = static_cast<double>(ahead.nodes())}}});
}

}  // namespace bapi
