#include "bapi/acquisition/tree_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/math/quasi_random.h"

namespace bapi {
namespace {

// Trees are scored in blocks of about this many points: many enough for the solves, few enough for the cache.
constexpr int kBlockPoints = 512;

// Points spread over the cube from which the promising ones are taken, and how far a start strays from them.
constexpr int kSpread = 512;
constexpr double kStray = 0.05;

// Calls body(first, count) for consecutive blocks of columns.
template <typename Body>
void for_blocks(const FantasyTree& tree, Eigen::Index columns, const Body& body) {
  const Eigen::Index size = std::max(1, kBlockPoints / tree.nodes());
  for (Eigen::Index first = 0; first < columns; first += size) body(first, std::min(size, columns - first));
}

// A score that underflowed gives no direction; -inf tells the ascent to turn back.
template <typename Column>
double to_log(double value, Column&& gradient) {
  if (value > 0.0) {
    gradient /= value;
  } else {
    gradient.setZero();
  }
  return std::log(value);
}

// From the score of one tree's belief, and from the same with slopes.
template <typename Score, typename Slopes>
SearchObjective objective_over(const TreePosterior& posterior,
                               const FantasyTree& tree,
                               const Score& score,
                               const Slopes& slopes) {
  const auto values = [=, &tree](const Matrix& points) {
    Vector result(points.cols());
    for_blocks(tree, points.cols(), [&](Eigen::Index first, Eigen::Index count) {
      const TreePosterior::At at = posterior.at(points.middleCols(first, count));
      for (Eigen::Index t = 0; t < count; ++t)
        result[first + t] = std::log(score(at.beliefs[static_cast<std::size_t>(t)]));
    });
    return result;
  };
  return {
      .screen = values, .score = values, .ascend = [=, &tree](const Matrix& points, Vector& logs, Matrix& gradients) {
        for_blocks(tree, points.cols(), [&](Eigen::Index first, Eigen::Index count) {
          const TreePosterior::At at = posterior.at(points.middleCols(first, count));
          std::vector<TreeMoments> each;
          for (Eigen::Index t = 0; t < count; ++t) {
            TreeScore scored = slopes(at.beliefs[static_cast<std::size_t>(t)]);
            logs[first + t] = scored.value;
            each.push_back(std::move(scored.slopes));
          }
          gradients.middleCols(first, count) = posterior.pull_back(at, each);
          for (Eigen::Index t = first; t < first + count; ++t) logs[t] = to_log(logs[t], gradients.col(t));
        });
      }};
}

}  // namespace

SearchObjective multi_step_objective(const ExactGp& values, const FantasyTree& tree, double best) {
  return objective_over(
      TreePosterior(values, tree),
      tree,
      [&tree, best](const TreeBelief& at) { return multi_step_improvement(tree, at, best); },
      [&tree, best](const TreeBelief& at) { return multi_step_improvement_slopes(tree, at, best); });
}

SearchObjective joint_objective(const ExactGp& values, const FantasyTree& path, double best, const Matrix& normals) {
  return objective_over(
      TreePosterior(values, path),
      path,
      [&path, &normals, best](const TreeBelief& at) { return joint_improvement(path, at.moments, best, normals); },
      [&path, &normals, best](const TreeBelief& at) {
        return joint_improvement_slopes(path, at.moments, best, normals);
      });
}

SearchObjective budgeted_objective(const BudgetedModels& models, const FantasyTree& tree, Cost budget) {
  const TreePosterior values(models.values, tree);
  const TreePosterior costs(models.log_costs, tree, models.log_cost_unit);
  const double best = models.best;
  const auto score = [=, &tree](const Matrix& points) {
    Vector result(points.cols());
    for_blocks(tree, points.cols(), [&](Eigen::Index first, Eigen::Index count) {
      const Matrix block = points.middleCols(first, count);
      const TreePosterior::At value = values.at(block);
      const TreePosterior::At cost = costs.at(block);
      for (Eigen::Index t = 0; t < count; ++t) {
        const auto i = static_cast<std::size_t>(t);
        result[first + t] = std::log(budgeted_improvement(tree, value.beliefs[i], best, cost.beliefs[i], budget));
      }
    });
    return result;
  };
  return {.screen = score, .score = score, .ascend = [=, &tree](const Matrix& points, Vector& logs, Matrix& gradients) {
            for_blocks(tree, points.cols(), [&](Eigen::Index first, Eigen::Index count) {
              const Matrix block = points.middleCols(first, count);
              const TreePosterior::At value = values.at(block);
              const TreePosterior::At cost = costs.at(block);
              std::vector<TreeMoments> value_slopes;
              std::vector<TreeMoments> cost_slopes;
              for (Eigen::Index t = 0; t < count; ++t) {
                const auto i = static_cast<std::size_t>(t);
                BudgetedScore scored =
                    budgeted_improvement_slopes(tree, value.beliefs[i], best, cost.beliefs[i], budget);
                logs[first + t] = scored.value;
                value_slopes.push_back(std::move(scored.value_slopes));
                cost_slopes.push_back(std::move(scored.log_cost_slopes));
              }
              gradients.middleCols(first, count) =
                  values.pull_back(value, value_slopes) + costs.pull_back(cost, cost_slopes);
              for (Eigen::Index t = first; t < first + count; ++t) logs[t] = to_log(logs[t], gradients.col(t));
            });
          }};
}

Matrix tree_screen(const FantasyTree& tree, int count, const Matrix& promising, Rng& rng) {
  check(promising.cols() > 0, "tree screen: no promising points");
  const Eigen::Index d = promising.rows();
  const auto coordinates = static_cast<int>(d * tree.nodes());
  const int spread = (count + 1) / 2;
  Matrix screen(coordinates, count);
  if (coordinates <= kMaxSobolDimensions) {
    screen.leftCols(spread) = scrambled_sobol_points(spread, coordinates, rng).transpose();
  } else {
    for (double& u : screen.leftCols(spread).reshaped()) u = rng.uniform();
  }
  for (Eigen::Index t = spread; t < count; ++t) {
    for (int j = 0; j < tree.nodes(); ++j) {
      const Eigen::Index from = rng.below(static_cast<int>(promising.cols()));
      for (Eigen::Index i = 0; i < d; ++i) {
        screen(j * d + i, t) = std::clamp(promising(i, from) + kStray * rng.normal(), 0.0, 1.0);
      }
    }
  }
  return screen;
}

Matrix promising_points(const Surrogate& values, double best, int count, Rng& rng) {
  const auto d = static_cast<int>(values.rows().dim());
  const Matrix points = scrambled_sobol_points(kSpread, d, rng);
  const Moments at = values.predict(Rows::at_configurations(points));
  Vector scores(kSpread);
  for (Eigen::Index i = 0; i < kSpread; ++i) {
    scores[i] = log_expected_improvement(at.mean[i], std::sqrt(at.variance[i]), best);
  }
  std::vector<Eigen::Index> order(kSpread);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return scores[a] > scores[b]; });
  order.resize(std::min<std::size_t>(order.size(), static_cast<std::size_t>(count)));
  return points(order, Eigen::all).transpose();
}

}  // namespace bapi
