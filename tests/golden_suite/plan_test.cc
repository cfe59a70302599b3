#include <gtest/gtest.h>

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/planner/conservative_stop.h"
#include "bapi/planner/horizon.h"
#include "golden.h"
#include "model.h"
#include "tests/support/references.h"

namespace bapi::golden {
namespace {

int row_of(const Matrix& candidates, const Vector& x) {
  for (int i = 0; i < candidates.rows(); ++i) {
    if (candidates.row(i).transpose() == x) return i;
  }
  return -1;
}

HorizonProblem problem_of(const Case& c, const ExactGp& gp) {
  const Value in = c.inputs();
  const Matrix x = in["candidates"].matrix();
  const Vector rates = in["cost_per_epoch"].vector();
  HorizonProblem problem{
      .model = gp,
      .best = in["best"].number(),
      .min_epoch = in["t_min"].integer(),
      .max_epoch = in["t_max"].integer(),
      .epsilon = in["epsilon_standardised"].number(),
      .budget = in["budget"].number(),
      .cost = [x, rates](const Vector& at, Epoch done, Epoch until) { return rates[row_of(x, at)] * (until - done); },
      .candidates = {},
      .pending = {},
      .new_points = NewPoints::none};
  for (int i = 0; i < x.rows(); ++i) problem.candidates.push_back({x.row(i), i, 0});
  return problem;
}

// Distance of the best candidate from the second best when each point of the horizon was chosen.
Vector margins(const Case& c, const HorizonProblem& problem, const std::vector<int>& horizon, double jitter) {
  const SlopeConstraint slopes = slopes_of(c);
  BatchImprovement batch(
      JointDraws(problem.model, slopes, {c.inputs()["U"].matrix(), c.inputs()["base_normals"].matrix()}, jitter),
      problem.best);
  std::vector<Rows> rows;
  for (const CurveAt& candidate : problem.candidates) rows.push_back(slopes.rows_and_value_at_tau(candidate.x, 0, 1.0));
  std::vector<bool> used(rows.size(), false);
  Vector result(static_cast<Eigen::Index>(horizon.size()));
  for (std::size_t step = 0; step < horizon.size(); ++step) {
    const Vector scores = batch.scores(rows);
    const auto chosen = static_cast<std::size_t>(horizon[step]);
    double second = -INFINITY;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!used[i] && i != chosen) second = std::max(second, scores[static_cast<Eigen::Index>(i)]);
    }
    result[static_cast<Eigen::Index>(step)] = scores[static_cast<Eigen::Index>(chosen)] - second;
    used[chosen] = true;
    batch.add(rows[chosen]);
  }
  return result;
}

void check_all_candidates(Case& c, const HorizonProblem& problem) {
  const SlopeConstraint slopes = slopes_of(c);
  std::vector<int> stops;
  Vector mixture(static_cast<Eigen::Index>(problem.candidates.size()));
  Vector matched(mixture.size());
  for (const CurveAt& candidate : problem.candidates) {
    const auto i = static_cast<Eigen::Index>(stops.size());
    const MonotoneGp posterior(problem.model, Constraint::on_slopes(slopes, candidate.x, candidate.group));
    stops.push_back(conservative_stop(
        posterior,
        candidate.x,
        candidate.group,
        {.epsilon = problem.epsilon, .min_epoch = problem.min_epoch, .max_epoch = problem.max_epoch}));
    const Rows row = Rows::of_curve(candidate.x, {stops.back()}, problem.max_epoch, candidate.group);
    mixture[i] = std::exp(log_constrained_improvement(posterior, row, problem.best));
    matched[i] = std::exp(log_moment_matched_improvement(posterior, row, problem.best));
  }
  c.expect("t_opt_all", stops);
  c.expect("ei_mixture_at_t_opt_all", mixture);
  c.expect("ei_moment_matched_at_t_opt_all", matched);
}

TEST(Golden, Plan) {
  for_each_case("plan", [](Case& c) {
    const ExactGp gp = model_of(c);
    const HorizonProblem problem = problem_of(c, gp);
    const double jitter = c.params().number_or("jitter_f", 0.0) / c.params()["s2"].number();
    const HorizonOptions options{.length = c.inputs()["max_horizon"].integer(),
                                 .acquisition = {},
                                 .screen_draws = c.inputs()["U"].size(),
                                 .value_jitter = jitter};
    Rng rng(1);
    Horizon horizon = plan_horizon(
        problem, options, slopes_of(c), {c.inputs()["U"].matrix(), c.inputs()["base_normals"].matrix()}, rng);
    // The reference plans nothing where the budget does not pay for the first run.
    if (!horizon.empty() && horizon.runs.front().shortened) horizon = {.runs = {}, .budget_left = problem.budget};

    std::vector<int> chosen;
    Vector scores(static_cast<Eigen::Index>(horizon.runs.size()));
    Vector per_cost(scores.size());
    for (const PlannedRun& run : horizon.runs) {
      const auto i = static_cast<Eigen::Index>(chosen.size());
      chosen.push_back(run.candidate);
      scores[i] = run.score;
      per_cost[i] = std::exp(run.log_improvement_per_cost);
    }
    c.expect("horizon", chosen);
    c.expect("rao_blackwell_value_when_chosen", scores);
    c.expect("budget_left", horizon.budget_left);
    c.expect("ei_per_cost", per_cost);
    c.expect("selected", horizon.empty() ? -1 : horizon.next().candidate);
    c.expect("margin_to_runner_up", margins(c, problem, chosen, jitter));
    check_all_candidates(c, problem);
  });
}

}  // namespace
}  // namespace bapi::golden
