#include "bapi/policy/rivals/bms_ei.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/acquisition/cost_cooling.h"
#include "bapi/math/quasi_random.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rivals/full_runs.h"
#include "bapi/policy/rivals/tree_choice.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

// Fantasies after the first, second and third decision of the tree; one each after later ones.
constexpr int kBudgetedFantasies[] = {4, 4, 2};

// Of the search for single points: raw points and ascents per parameter.
constexpr int kRawPerDimension = 50;
constexpr int kStartsPerDimension = 5;
constexpr int kRawTreesPerDimension = 200;

FantasyTree look_ahead(int steps, bool several, Rng& rng) {
  if (!several) return FantasyTree::path(steps);
  std::vector<std::vector<Fantasy>> stages;
  for (int k = 0; k + 1 < steps; ++k) {
    const int count = k < std::ssize(kBudgetedFantasies) ? kBudgetedFantasies[k] : 1;
    const Matrix normals = normal_base_samples(count, 2, rng);
    std::vector<Fantasy> stage;
    for (int i = 0; i < count; ++i) stage.push_back({normals(i, 0), normals(i, 1), 1.0 / count});
    stages.push_back(std::move(stage));
  }
  return FantasyTree(stages);
}

// A random observation at x, as the model predicts it; the model learns it.
double observe(ExactGp& gp, const Rows& x, Rng& rng) {
  const Moments at = gp.predict(x);
  const double y = at.mean[0] + std::sqrt(at.variance[0] + gp.parameters().noise) * rng.normal();
  gp.append(x, Vector::Constant(1, y));
  return y;
}

// Kept in the log with every run that was chosen by it.
Decision with_schedule(Decision decision, const BudgetSchedule& schedule) {
  if (Start* start = std::get_if<Start>(&decision)) start->assignment = {.schedule = schedule};
  return decision;
}

const OptionTable<BudgetedMultiStepOptions>& bms_ei_table() {
  static const auto all =
      OptionTable<BudgetedMultiStepOptions>()
          .integer(
              "steps",
              [](BudgetedMultiStepOptions & o) -> auto& { return o.steps; },
              1,
              6,
              "full trainings to look ahead")
          .word<bool>(
              "fantasies",
              [](BudgetedMultiStepOptions & o) -> auto& { return o.tree; },
              {{"mean", false}, {"tree", true}},
              "mean (one per training: a path), or tree (4, 4 and 2 per training)")
          .integer(
              "starts",
              [](BudgetedMultiStepOptions & o) -> auto& { return o.starts; },
              1,
              100,
              "starting points of the search over trees")
          .part(
              initial_runs_option(), [](BudgetedMultiStepOptions & o) -> auto& { return o.design; });
  return all;
}

}  // namespace

PolicyInfo BudgetedMultiStep::info() {
  return {.name = "bms-ei",
          .summary = "ms-ei that looks as far ahead as the budget allows",
          .options = bms_ei_table().describe({})};
}

BudgetedMultiStep::BudgetedMultiStep(const PolicySpec& spec) : options_(bms_ei_table().read(spec, {})) {}

std::optional<BudgetSchedule> after(const BudgetSchedule& schedule, Cost paid) {
  if (!(schedule.planned - paid > schedule.smallest)) return std::nullopt;
  return BudgetSchedule{.planned = schedule.planned - paid, .smallest = schedule.smallest};
}

std::optional<BudgetSchedule> continued_schedule(const Evidence& evidence, const FullRunCost& cost) {
  const History& history = evidence.history();
  if (history.trials().empty()) return std::nullopt;
  const Trial& last = history.trials().back();
  if (!last.assignment.schedule) return std::nullopt;
  const Cost paid = last.segment ? std::max(last.segment->spent, cost.median(evidence.at(last).x)) : last.spent();
  return after(*last.assignment.schedule, paid);
}

BudgetSchedule new_schedule(const ConfigurationModel& model,
                            const FullRunCost& cost,
                            const ScheduleRequest& request,
                            Rng& rng) {
  const Cost left = request.left;
  ExactGp values = model.gp;
  ExactGp log_costs = cost.gp;
  double best = model.best;
  Cost imagined = left;
  Cost sum = 0.0;
  Cost smallest = std::numeric_limits<Cost>::infinity();
  const auto d = static_cast<int>(values.rows().dim());
  const SearchOptions search{.raw_points = kRawPerDimension * d,
                             .starts = kStartsPerDimension * d,
                             .ascent = {.max_iterations = 100, .relative_tolerance = 1e-6}};
  for (int step = 0; step < request.steps; ++step) {
    const double a = std::max(0.0, imagined / request.total);
    const SearchObjective objective =
        cooled_objective({.values = values, .best = best, .log_costs = log_costs, .log_cost_unit = cost.unit}, a);
    const std::vector<ScoredPoint> found = search_cube(objective, d, Matrix(d, 0), {}, search, rng);
    if (found.empty()) break;
    const Rows x = Rows::at_configurations(found.front().x.transpose());
    best = std::max(best, observe(values, x, rng));
    const Cost paid = std::exp(cost.unit.undo(observe(log_costs, x, rng)));
    sum += paid;
    smallest = std::min(smallest, paid);
    imagined -= paid;
  }
  return {.planned = std::min(sum, left), .smallest = std::min(smallest, left)};
}

Decision BudgetedMultiStep::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, options_.design)) return *first;
  const Evidence evidence(history);
  Rng model_stream = rng.fork("model");
  const ConfigurationModel model = fit_configurations(evidence, model_stream);
  Rng cost_stream = rng.fork("cost");
  const FullRunCost cost = fit_full_run_cost(evidence, cost_stream);

  const Cost left = left_after_running(evidence, cost);
  Rng schedule_stream = rng.fork("schedule");
  std::optional<BudgetSchedule> schedule = continued_schedule(evidence, cost);
  if (!schedule) {
    schedule = new_schedule(
        model, cost, {.steps = options_.steps, .total = history.budget().plannable(), .left = left}, schedule_stream);
  }
  const Cost budget = std::min(schedule->planned, left);

  Rng fantasy_stream = rng.fork("fantasies");
  const FantasyTree ahead = look_ahead(options_.steps, options_.tree, fantasy_stream);
  Rng search_stream = rng.fork("trees");
  const SearchObjective objective = budgeted_objective(
      {.values = model.gp, .best = model.best, .log_costs = cost.gp, .log_cost_unit = cost.unit}, ahead, budget);
  const int raw = kRawTreesPerDimension * history.spec().space.encoded_dim();
  const std::optional<TreeChoice> choice = best_root(
      evidence, objective, ahead, tree_starts(model, ahead, search_stream, raw), tree_ascents(options_.starts));
  if (!choice) {
    Decision any = options_.design.next(history);
    if (Start* start = std::get_if<Start>(&any)) start->why = {.rule = Rule::nothing_fits_budget};
    return with_schedule(std::move(any), *schedule);
  }
  const Epoch last = history.spec().epochs.max;
  Reason why{.rule = Rule::budgeted_improvement,
             .forecast = forecast_full_run(history, model, choice->root.x),
             .price = Price{.until = last, .cost = cost.median(choice->root.x)},
             .score = score_in_metric(model.scale, model.best, choice->log_score),
             .notes = notes_of_failures(evidence, choice->root)};
  return with_schedule(train(choice->root, last, 0.0, std::move(why)), *schedule);
}

}  // namespace bapi
