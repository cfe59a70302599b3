#include "bapi/policy/new_configs.h"

#include <algorithm>
#include <numeric>

#include "bapi/acquisition/improvement.h"
#include "bapi/math/maximize.h"
#include "bapi/math/quasi_random.h"

namespace bapi {
namespace {

// Every candidate is a configuration of its own.
std::vector<int> own_groups(const History& history, Eigen::Index count) {
  std::vector<int> groups(static_cast<std::size_t>(count));
  std::iota(groups.begin(), groups.end(), static_cast<int>(history.trials().size()));
  return groups;
}

Rows last_epoch_rows(const History& history, const Matrix& x) {
  const Epoch max_epoch = history.spec().epochs.max;
  std::vector<Epoch> epochs(static_cast<std::size_t>(x.rows()), max_epoch);
  return Rows::at_epochs(x, std::move(epochs), max_epoch, own_groups(history, x.rows()));
}

Vector log_improvements(const History& history, const ExactGp& gp, double best, const Matrix& x) {
  const Moments moments = gp.predict(last_epoch_rows(history, x));
  Vector values(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    values[i] = log_expected_improvement(moments.mean[i], std::sqrt(moments.variance[i]), best);
  }
  return values;
}

std::vector<Eigen::Index> best_first(const Vector& values) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return values[a] > values[b]; });
  return order;
}

std::vector<Config> refined(
    const History& history, const ExactGp& gp, double best, const Matrix& starts, const NewConfigOptions&) {
  const Eigen::Index d = starts.cols();
  const BatchObjective objective = [&](const Matrix& points, Vector& values, Matrix& gradients) {
    const ImprovementGradients at = log_expected_improvement(gp, last_epoch_rows(history, points.transpose()), best);
    values = at.log_values;
    gradients = at.gradients;
  };
  const Box cube{.low = Vector::Zero(d), .high = Vector::Ones(d)};
  MaximizeOptions ascent;
  ascent.max_iterations = 30;
  ascent.value_tolerance = 1e-3;
  std::vector<Config> configs;
  for (const MaximizeSummary& end : maximize_together(objective, cube, starts.transpose(), ascent)) {
    configs.push_back(history.spec().space.decode(end.x));
  }
  return configs;
}

bool is_new(const History& history, const std::vector<Candidate>& found, const Config& config) {
  const auto same = [&](const auto& other) { return other.config == config; };
  return std::none_of(history.trials().begin(), history.trials().end(), same) &&
         std::none_of(found.begin(), found.end(), same);
}

}  // namespace

std::vector<Candidate> new_configs(const History& history,
                                   const ExactGp& gp,
                                   double best,
                                   const NewConfigOptions& options,
                                   Rng& rng) {
  if (!history.spec().pool.empty()) return untried_rows(history);
  const Space& space = history.spec().space;
  const Matrix unit = scrambled_sobol_points(options.screened, std::max(1, space.unit_dim()), rng);
  std::vector<Config> screened;
  Matrix x(options.screened, space.encoded_dim());
  for (Eigen::Index i = 0; i < unit.rows(); ++i) {
    screened.push_back(space.from_unit(unit.row(i).head(space.unit_dim())));
    x.row(i) = space.encode(screened.back()).transpose();
  }
  const std::vector<Eigen::Index> order = best_first(log_improvements(history, gp, best, x));

  std::vector<Eigen::Index> starts(order.begin(), order.begin() + std::min<std::ptrdiff_t>(options.refined, std::ssize(order)));
  std::vector<Config> configs = refined(history, gp, best, x(starts, Eigen::all), options);
  for (std::size_t i = 0; i < order.size() && std::ssize(configs) < options.refined + options.returned; ++i) {
    configs.push_back(screened[static_cast<std::size_t>(order[i])]);
  }
  std::vector<Candidate> candidates;
  for (Config& config : configs) {
    if (!is_new(history, candidates, config)) continue;
    candidates.push_back(new_candidate(history, std::move(config), static_cast<int>(candidates.size())));
  }
  return candidates;
}

}  // namespace bapi
