#pragma once

#include <optional>

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/priors.h"

namespace bapi {

struct FitOptions {
  HyperPriors priors = HyperPriors::for_curves();
  PriorMean mean = {};

  // Hyperparameters of an earlier fit to begin from, of the same structure. Without them the mode of the prior.
  std::optional<GpParameters> warm_start = std::nullopt;

  // Further starting points, drawn from the priors (the first is the mode of the prior if there is a warm start).
  int restarts = 2;

  // Starts compete on at most this many rows, evenly taken, with a rough tolerance; only the winner is polished on all
  // of them.
  int screening_rows = 64;

  // Per ascent.
  int max_iterations = 60;

  // An ascent ends when a step raises the log posterior by less than this.
  double tolerance = 1e-3;

  // Fixes the noise variance instead of learning it.
  std::optional<double> fixed_noise = std::nullopt;

  void validate() const;
};

enum class FitEnd { converged, iteration_limit, no_progress };

struct FitSummary {
  FitEnd end = FitEnd::no_progress;
  double initial_log_posterior = 0.0;  // where the last ascent began, up to the constant of the priors
  double final_log_posterior = 0.0;
  double log_likelihood = 0.0;  // of the data at the end
  double jitter_used = 0.0;     // 0 if the covariance was well conditioned
  int evaluations = 0;          // on all rows
  int screening_evaluations = 0;
  Vector trend_weights = {};  // of PriorMean::trends, in their order
};

struct FitResult {
  ExactGp gp;
  FitSummary summary;
};

// Hyperparameters that maximise log p(y) plus the log priors, by quasi-Newton ascent in their logs, and the model with
// them. `structure` says which kernels, whether the own term is on (own_amplitude > 0) and the dimension; its numbers
// do not matter. y is expected standardised. Any n is fine; without data the priors decide.
FitResult fit(const Rows& rows, const Vector& y, const GpParameters& structure, const FitOptions& options, Rng& rng);

}  // namespace bapi
