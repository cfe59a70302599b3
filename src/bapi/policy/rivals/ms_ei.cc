#include "bapi/policy/rivals/ms_ei.h"

#include <algorithm>
#include <cmath>

#include "bapi/acquisition/tree_search.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rivals/full_runs.h"
#include "bapi/policy/rivals/tree_choice.h"
#include "bapi/policy/shared_options.h"

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

const OptionTable<MultiStepOptions>& ms_ei_table() {
  static const auto all =
      OptionTable<MultiStepOptions>()
          .integer(
              "steps",
              [](MultiStepOptions & o) -> auto& { return o.steps; },
              1,
              6,
              "full trainings to look ahead; 1 is ei")
          .word<FantasyRule>(
              "fantasies",
              [](MultiStepOptions & o) -> auto& { return o.fantasies; },
              {{"tree", FantasyRule::tree}, {"mean", FantasyRule::mean}, {"random", FantasyRule::random_path}},
              "tree (10, 5 and 3 per training), mean or random (one per training: a path)")
          .real(
              "prune",
              [](MultiStepOptions & o) -> auto& { return o.prune; },
              0.0,
              0.1,
              "weight below which fantasies are left out")
          .word<bool>(
              "cap",
              [](MultiStepOptions & o) -> auto& { return o.cap_steps; },
              {{"none", false}, {"count", true}},
              "none, or count: look no further ahead than the full trainings the remaining budget covers")
          .integer(
              "starts",
              [](MultiStepOptions & o) -> auto& { return o.starts; },
              1,
              100,
              "starting points of the search over trees")
          .part(
              initial_runs_option(), [](MultiStepOptions & o) -> auto& { return o.design; });
  return all;
}

MultiStepOptions ms_ei_preset(const std::string& name) { return {.steps = name == kTwoSteps ? 2 : 4}; }

}  // namespace

std::vector<std::string> MultiStepImprovement::presets() { return {"ms-ei", kTwoSteps}; }

PolicyInfo MultiStepImprovement::info(const std::string& preset) {
  return {.name = preset,
          .summary = preset == kTwoSteps ? "ms-ei that looks two full trainings ahead"
                                         : "ei that looks four full trainings ahead",
          .options = ms_ei_table().describe(ms_ei_preset(preset))};
}

MultiStepImprovement::MultiStepImprovement(const PolicySpec& spec)
    : name_(spec.name), options_(ms_ei_table().read(spec, ms_ei_preset(spec.name))) {}

int MultiStepImprovement::steps_ahead(const History& history) const {
  if (!options_.cap_steps) return options_.steps;
  const double left = std::floor(history.budget().remaining() / full_run_cost(history));
  return static_cast<int>(std::clamp(left, 1.0, static_cast<double>(options_.steps)));
}

FantasyTree MultiStepImprovement::tree(int steps, Rng& rng) const {
  std::vector<std::vector<Fantasy>> stages;
  for (int k = 0; k + 1 < steps; ++k) {
    std::vector<Fantasy> stage = {Fantasy{}};
    if (options_.fantasies == FantasyRule::tree && k < std::ssize(kFantasies)) {
      stage = bapi::fantasies(pruned(gauss_hermite(kFantasies[k]), options_.prune));
    }
    if (options_.fantasies == FantasyRule::random_path) stage.front().value = rng.normal();
    stages.push_back(std::move(stage));
  }
  return FantasyTree(stages);
}

Decision MultiStepImprovement::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, options_.design)) return *first;
  const Evidence evidence(history);
  Rng model_stream = rng.fork("model");
  const ConfigurationModel model = fit_configurations(evidence, model_stream);
  const int steps = steps_ahead(history);
  if (steps == 1) return largest_improvement(evidence, model, options_.design, rng);

  Rng fantasy_stream = rng.fork("fantasies");
  const FantasyTree ahead = tree(steps, fantasy_stream);
  Rng search_stream = rng.fork("trees");
  const SearchObjective objective = multi_step_objective(model.gp, ahead, model.best);
  const std::optional<TreeChoice> choice =
      best_root(evidence, objective, ahead, tree_starts(model, ahead, search_stream), tree_ascents(options_.starts));
  if (!choice) return options_.design.next(history);
  std::vector<Note> notes = notes_of_failures(evidence, choice->root);
  notes.push_back({.kind = NoteKind::steps_ahead, .value = static_cast<double>(steps)});
  notes.push_back({.kind = NoteKind::tree_nodes, .value = static_cast<double>(ahead.nodes())});
  return train(choice->root,
               history.spec().epochs.max,
               0.0,
               {.rule = Rule::multi_step_improvement,
                .forecast = forecast_full_run(history, model, choice->root.x),
                .score = score_in_metric(model.scale, model.best, choice->log_score),
                .notes = std::move(notes)});
}

}  // namespace bapi
