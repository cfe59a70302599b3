#include "bapi/gp/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/names.h"
#include "bapi/gp/log_likelihood.h"

namespace bapi {

template <>
inline constexpr auto names<FitEnd> = NameTable{Name{FitEnd::converged, "converged"},
                                                Name{FitEnd::iteration_limit, "iteration limit"},
                                                Name{FitEnd::no_progress, "no progress"}};

namespace {

// Where starts only compete, differences of the log posterior below this do not matter.
constexpr double kScreeningTolerance = 0.05;

FitEnd fit_end(MaximizeEnd end) {
  if (end == MaximizeEnd::converged) return FitEnd::converged;
  return end == MaximizeEnd::iteration_limit ? FitEnd::iteration_limit : FitEnd::no_progress;
}

// Log posterior of the hyperparameters given some of the rows, ready to be ascended.
class Posterior {
 public:
  Posterior(const Rows& rows, const Vector& y, const GpParameters& structure, const FitOptions& options)
      : prior_(options.priors, structure), box_(prior_.box()), likelihood_(rows, y, structure, options.mean) {
    if (options.fixed_noise) {
      box_.low.tail(1).setConstant(std::log(*options.fixed_noise));
      box_.high.tail(1).setConstant(std::log(*options.fixed_noise));
    }
    ascent_.max_iterations = options.max_iterations;
    ascent_.relative_tolerance = 0.0;
    ascent_.value_tolerance = options.tolerance;
    ascent_.gradient_tolerance = 1e-3;
    ascent_.first_step = 1.0;
  }

  MaximizeSummary ascend(const Vector& start) {
    return maximize(
        [this](const Vector& logs, Vector& gradient) { return evaluate(logs, gradient); }, box_, start, ascent_);
  }

  double evaluate(const Vector& logs, Vector& gradient) {
    const double value = likelihood_(logs, gradient);
    if (!std::isfinite(value)) return value;
    gradient += prior_.gradient(logs);
    return value + prior_.log_density(logs);
  }

  const JointPrior& prior() const { return prior_; }

 private:
  JointPrior prior_;
  Box box_;
  LogLikelihood likelihood_;
  MaximizeOptions ascent_;
};

std::vector<Eigen::Index> evenly_taken(Eigen::Index n, Eigen::Index count) {
  std::vector<Eigen::Index> indices;
  for (Eigen::Index k = 0; k < count; ++k) indices.push_back(k * n / count);
  return indices;
}

std::vector<Vector> starting_points(const JointPrior& prior, const FitOptions& options, Rng& rng) {
  std::vector<Vector> starts;
  if (options.warm_start) starts.push_back(log_parameters(*options.warm_start));
  const auto wanted = static_cast<std::size_t>(options.restarts) + 1;
  if (starts.size() < wanted) starts.push_back(prior.mode());
  while (starts.size() < wanted) starts.push_back(prior.draw(rng));
  return starts;
}

// The ascent that ends highest; the evaluations of all are added up.
MaximizeSummary best_ascent(Posterior& posterior, const std::vector<Vector>& starts) {
  MaximizeSummary best = posterior.ascend(starts.front());
  int evaluations = best.evaluations;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    MaximizeSummary ascent = posterior.ascend(starts[i]);
    evaluations += ascent.evaluations;
    if (ascent.value > best.value || !std::isfinite(best.value)) best = std::move(ascent);
  }
  best.evaluations = evaluations;
  return best;
}

// The starts compete on a part of the rows, and the winner is moved to where its ascent ended.
MaximizeSummary screened_ascent(const Rows& rows,
                                const Vector& y,
                                const GpParameters& structure,
                                const FitOptions& options,
                                const std::vector<Vector>& starts) {
  const Eigen::Index count = std::min<Eigen::Index>(rows.size(), options.screening_rows);
  const std::vector<Eigen::Index> indices = evenly_taken(rows.size(), count);
  Vector some(count);
  for (Eigen::Index i = 0; i < count; ++i) some(i) = y(indices[i]);
  FitOptions rough = options;
  rough.tolerance = std::max(options.tolerance, kScreeningTolerance);
  Posterior posterior(rows.select(indices), some, structure, rough);
  return best_ascent(posterior, starts);
}

}  // namespace

void FitOptions::validate() const {
  priors.validate();
  require(restarts >= 0, fmt::format("fit.restarts = {}, must not be negative", restarts));
  require(screening_rows >= 1, fmt::format("fit.screening_rows = {}, must be at least 1", screening_rows));
  require(max_iterations >= 1, fmt::format("fit.max_iterations = {}, must be at least 1", max_iterations));
  require(tolerance > 0.0, fmt::format("fit.tolerance = {}, must be positive", tolerance));
  require(!fixed_noise || *fixed_noise > 0.0, "fit.fixed_noise must be positive");
}

FitResult fit(const Rows& rows, const Vector& y, const GpParameters& structure, const FitOptions& options, Rng& rng) {
  options.validate();
  check(y.allFinite(), "fit: y is not finite");
  FitSummary summary;
  Posterior posterior(rows, y, structure, options);
  std::vector<Vector> starts = starting_points(posterior.prior(), options, rng);
  if (starts.size() > 1) {
    const MaximizeSummary winner = screened_ascent(rows, y, structure, options, starts);
    summary.screening_evaluations = winner.evaluations;
    starts = {winner.x};
  }
  const MaximizeSummary ascent = best_ascent(posterior, starts);
  ExactGp gp(rows, y, with_log_parameters(structure, ascent.x), options.mean);
  summary.end = fit_end(ascent.end);
  summary.initial_log_posterior = ascent.initial_value;
  summary.final_log_posterior = ascent.value;
  summary.log_likelihood = gp.log_likelihood();
  summary.jitter_used = gp.factor().jitter();
  summary.evaluations = ascent.evaluations;
  summary.trend_weights = gp.trend_weights();
  return {.gp = std::move(gp), .summary = summary};
}

}  // namespace bapi
