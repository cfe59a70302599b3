#include "bapi/acquisition/tree_improvement.h"

#include <cmath>
#include <optional>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/math/normal.h"

namespace bapi {
namespace {

// Lowest latent variances: of values and, since costs may be known exactly, of log costs.
constexpr double kValueFloor = 1e-9;
constexpr double kLogCostFloor = 1e-12;

// A budget below this is gone.
constexpr Cost kNoBudget = 1e-6;

struct Costs {
  const TreeBelief& log_costs;
  Cost budget;
};

struct Slopes {
  TreePaths::Slopes values;
  TreePaths::Slopes log_costs;
};

// The best observation on the way to a node, and which ancestor it was made at: its place on the path, -1 for none.
struct Incumbent {
  double value = 0.0;
  int place = -1;
};

Incumbent incumbent(const FantasyTree& tree, const TreePaths& paths, const Vector& means, int node, double best) {
  Incumbent result{best, -1};
  const std::span<const int> above = tree.ancestors(node);
  const std::span<const double> z = tree.value_normals(node);
  for (std::size_t l = 0; l < above.size(); ++l) {
    const double seen = means[above[l]] + paths.deviation()[above[l]] * z[l];
    if (seen > result.value) result = {seen, static_cast<int>(l)};
  }
  return result;
}

Vector conditional_means(const FantasyTree& tree,
                         const TreePaths& paths,
                         std::span<const double> (FantasyTree::*z)(int) const) {
  Vector means(tree.nodes());
  for (int j = 0; j < tree.nodes(); ++j) means[j] = paths.conditional_mean(j, (tree.*z)(j));
  return means;
}

// A node's chance to be paid for, with what its derivatives need.
struct Affordable {
  double probability = 1.0;
  double standardised = 0.0;  // (ln B - mc) / sc
  double sd = 1.0;
  Cost budget = 0.0;
};

class CostPaths {
 public:
  CostPaths(const FantasyTree& tree, const Costs& costs)
      : tree_(tree),
        paths_(tree, costs.log_costs.moments, costs.log_costs.noise, kLogCostFloor),
        means_(conditional_means(tree, paths_, &FantasyTree::cost_normals)),
        budget_(costs.budget) {}

  const TreePaths& paths() const { return paths_; }

  Affordable at(int node) const {
    Affordable result{.sd = std::sqrt(paths_.variance()[node]), .budget = budget_};
    const std::size_t above = tree_.ancestors(node).size();
    for (std::size_t l = 0; l < above; ++l) result.budget -= fantasy(node, l);
    if (result.budget <= kNoBudget) {
      result.probability = 0.0;
      return result;
    }
    result.standardised = (std::log(result.budget) - means_[node]) / result.sd;
    result.probability = normal_cdf(result.standardised);
    return result;
  }

  // Adds the derivatives of weight * probability.
  void add_slopes(int node, const Affordable& at, double weight, TreePaths::Slopes& slopes) const {
    const double density = weight * normal_pdf(at.standardised);
    if (at.probability == 0.0 || density == 0.0) return;
    slopes.add_mean(tree_, node, tree_.cost_normals(node), -density / at.sd);
    slopes.variance[node] -= density * at.standardised / (2.0 * at.sd * at.sd);
    const double budget_slope = density / (at.sd * at.budget);
    const std::span<const int> above = tree_.ancestors(node);
    for (std::size_t l = 0; l < above.size(); ++l) {
      const double slope = -budget_slope * fantasy(node, l);
      slopes.add_mean(tree_, above[l], tree_.cost_normals(above[l]), slope);
      slopes.deviation[above[l]] += slope * tree_.cost_normals(node)[l];
    }
  }

 private:
  Cost fantasy(int node, std::size_t place) const {
    const int a = tree_.ancestors(node)[place];
    return std::exp(means_[a] + paths_.deviation()[a] * tree_.cost_normals(node)[place]);
  }

  const FantasyTree& tree_;
  TreePaths paths_;
  Vector means_;
  Cost budget_;
};

// The value of a tree is the sum over its nodes of weight * P(affordable) * E max(0, f - incumbent), node j with the
// moments (mean_j, s_j^2) that it has once its ancestors were observed at mean_a + deviation_a z_a. With u = (mean -
// incumbent) / s, EI = s (phi(u) + u Phi(u)); its derivatives are Phi(u) in the mean, -Phi(u) in the incumbent and
// phi(u) / (2 s) in the variance s^2, as the terms of du cancel. The incumbent is one of the fantasies, so that its
// derivative goes to that ancestor's mean and, times z, to its deviation. For far tails EI comes from its logarithm.
//
// Sums the stages; derivatives are added where `slopes` is given.
double sum_of_stages(const FantasyTree& tree,
                     const TreePaths& paths,
                     double best,
                     const std::optional<CostPaths>& costs,
                     Slopes* slopes) {
  const Vector means = conditional_means(tree, paths, &FantasyTree::value_normals);
  double sum = 0.0;
  for (int j = 0; j < tree.nodes(); ++j) {
    const Incumbent before = incumbent(tree, paths, means, j, best);
    const double s = std::sqrt(paths.variance()[j]);
    const double u = (means[j] - before.value) / s;
    const double cdf = normal_cdf(u);
    const double pdf = normal_pdf(u);
    const double improvement = u < -5.0 ? expected_improvement(means[j], s, before.value) : s * (pdf + u * cdf);
    const Affordable affordable = costs ? costs->at(j) : Affordable{};
    sum += tree.weight(j) * improvement * affordable.probability;
    if (!slopes) continue;
    const double weight = tree.weight(j) * affordable.probability;
    slopes->values.add_mean(tree, j, tree.value_normals(j), weight * cdf);
    slopes->values.variance[j] += weight * pdf / (2.0 * s);
    if (before.place >= 0) {
      const auto place = static_cast<std::size_t>(before.place);
      const int a = tree.ancestors(j)[place];
      slopes->values.add_mean(tree, a, tree.value_normals(a), -weight * cdf);
      slopes->values.deviation[a] -= weight * cdf * tree.value_normals(j)[place];
    }
    if (costs) costs->add_slopes(j, affordable, tree.weight(j) * improvement, slopes->log_costs);
  }
  return sum;
}

// As above for the draws of a joint improvement.
double mean_over_draws(
    const FantasyTree& path, const TreePaths& paths, double best, const Matrix& normals, TreePaths::Slopes* slopes) {
  const int last = path.nodes() - 1;
  check(normals.rows() == last && normals.cols() >= 1, "joint improvement: draws for another number of points");
  const double s = std::sqrt(paths.variance()[last]);
  const double share = 1.0 / static_cast<double>(normals.cols());
  double sum = 0.0;
  for (Eigen::Index draw = 0; draw < normals.cols(); ++draw) {
    const std::span<const double> z(normals.col(draw).data(), static_cast<std::size_t>(last));
    double reached = best;
    int winner = -1;
    for (int j = 0; j < last; ++j) {
      const auto before = static_cast<std::size_t>(j);
      const double y = paths.conditional_mean(j, z.first(before)) + paths.deviation()[j] * z[before];
      if (y > reached) {
        reached = y;
        winner = j;
      }
    }
    const double mean = paths.conditional_mean(last, z);
    const double u = (mean - reached) / s;
    const double cdf = normal_cdf(u);
    const double pdf = normal_pdf(u);
    sum += reached - best + (u < -5.0 ? expected_improvement(mean, s, reached) : s * (pdf + u * cdf));
    if (!slopes) continue;
    slopes->add_mean(path, last, z, share * cdf);
    slopes->variance[last] += share * pdf / (2.0 * s);
    if (winner >= 0) {
      const auto before = static_cast<std::size_t>(winner);
      const double slope = share * (1.0 - cdf);
      slopes->add_mean(path, winner, z.first(before), slope);
      slopes->deviation[winner] += slope * z[before];
    }
  }
  return share * sum;
}

}  // namespace

double multi_step_improvement(const FantasyTree& tree, const TreeBelief& values, double best) {
  return sum_of_stages(tree, TreePaths(tree, values.moments, values.noise, kValueFloor), best, std::nullopt, nullptr);
}

TreeScore multi_step_improvement_slopes(const FantasyTree& tree, const TreeBelief& values, double best) {
  const TreePaths paths(tree, values.moments, values.noise, kValueFloor);
  Slopes slopes{.values = TreePaths::Slopes::zero(tree), .log_costs = {}};
  const double value = sum_of_stages(tree, paths, best, std::nullopt, &slopes);
  return {value, paths.pull_back(std::move(slopes.values))};
}

double budgeted_improvement(
    const FantasyTree& tree, const TreeBelief& values, double best, const TreeBelief& log_costs, Cost budget) {
  const TreePaths paths(tree, values.moments, values.noise, kValueFloor);
  return sum_of_stages(tree, paths, best, CostPaths(tree, {log_costs, budget}), nullptr);
}

BudgetedScore budgeted_improvement_slopes(
    const FantasyTree& tree, const TreeBelief& values, double best, const TreeBelief& log_costs, Cost budget) {
  const TreePaths paths(tree, values.moments, values.noise, kValueFloor);
  const std::optional<CostPaths> costs(std::in_place, tree, Costs{log_costs, budget});
  Slopes slopes{.values = TreePaths::Slopes::zero(tree), .log_costs = TreePaths::Slopes::zero(tree)};
  const double value = sum_of_stages(tree, paths, best, costs, &slopes);
  return {value, paths.pull_back(std::move(slopes.values)), costs->paths().pull_back(std::move(slopes.log_costs))};
}

double joint_improvement(const FantasyTree& path, const TreeMoments& moments, double best, const Matrix& normals) {
  return mean_over_draws(path, TreePaths(path, moments, 0.0, kValueFloor), best, normals, nullptr);
}

TreeScore joint_improvement_slopes(const FantasyTree& path,
                                   const TreeMoments& moments,
                                   double best,
                                   const Matrix& normals) {
  const TreePaths paths(path, moments, 0.0, kValueFloor);
  TreePaths::Slopes slopes = TreePaths::Slopes::zero(path);
  const double value = mean_over_draws(path, paths, best, normals, &slopes);
  return {value, paths.pull_back(std::move(slopes))};
}

}  // namespace bapi
