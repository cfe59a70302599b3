#include <algorithm>
#include <ranges>

#include "bapi/acquisition/improvement.h"
#include "bapi/gp/continuation.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/model/curve_surrogate.h"
#include "bapi/planner/curve_points.h"

namespace bapi {
namespace {

// A curve that does not fall.
class GpContinuation final : public CurveContinuation {
 public:
  GpContinuation(const GaussianCurves& curves, const Vector& x, CurveId group)
      : posterior_(curves.gp, Constraint::on_slopes(curves.slopes, x, group)) {}

  Vector mean(const Rows& rows) const override { return posterior_.mean(rows); }
  Moments predict(const Rows& rows) const override { return posterior_.predict(rows); }
  double noise() const override { return posterior_.noise(); }
  double log_probability() const override { return posterior_.log_probability(); }
  double log_improvement(const Rows& row, double best) const override {
    return log_constrained_improvement(posterior_, row, best);
  }

 private:
  MonotoneGp posterior_;
};

class GpCurves final : public CurveSurrogate {
 public:
  GpCurves(ExactGp gp, SlopeConstraint slopes, const FitSummary& fit)
      : gp_(std::move(gp)), slopes_(std::move(slopes)), fit_(fit) {}

  const Rows& rows() const override { return gp_.rows(); }
  const Vector& y() const override { return gp_.y(); }
  double noise() const override { return gp_.noise(); }
  Moments predict(const Rows& rows) const override { return gp_.predict(rows); }
  JointMoments predict_joint(const Rows& rows) const override { return gp_.predict_joint(rows); }
  MomentGradients predict_with_gradients(const Rows& rows) const override { return gp_.predict_with_gradients(rows); }

  std::unique_ptr<CurveSurrogate> with_pending(const Rows& rows) const override {
    return std::make_unique<GpCurves>(gp_.with_pending(rows), slopes_, fit_);
  }
  Moments continuation(const Rows& now, const Vector& reached, double variance, const Rows& then) const override {
    return bapi::continuation(gp_, now, reached, variance, then);
  }
  std::unique_ptr<CurveContinuation> curve(const Vector& x, CurveId group) const override {
    return std::make_unique<GpContinuation>(gaussian(), x, group);
  }
  GaussianCurves gaussian() const override { return {gp_, slopes_}; }
  const FitSummary& fit_summary() const override { return fit_; }

 private:
  ExactGp gp_;
  SlopeConstraint slopes_;
  FitSummary fit_;
};

GpParameters structure(TimeKind time, const CurveModelOptions& options, Eigen::Index dim) {
  GpParameters parameters;
  parameters.kernel.space = {.kind = SpaceKind::matern52, .lengthscales = Vector::Constant(dim, 0.7)};
  parameters.kernel.time.kind = time;
  parameters.kernel.own_amplitude = options.own_term ? 0.1 : 0.0;
  return parameters;
}

PriorMean mean_of(const CurveModelOptions& options) { return {.trends = options.trends}; }

struct FittedKernel {
  GpParameters parameters;
  FitSummary summary;
};

FittedKernel fit_kernel(const Rows& rows,
                        const Vector& y,
                        TimeKind time,
                        const CurveModelOptions& options,
                        FitOptions fit_options,
                        const Rng& rng) {
  Rng stream = rng.fork("curves", static_cast<std::uint64_t>(time));
  fit_options.mean = mean_of(options);
  const FitResult result = fit(rows, y, structure(time, options, rows.dim()), fit_options, stream);
  return {result.gp.parameters(), result.summary};
}

struct FittedRows {
  Rows rows;
  Vector y;
};

FittedRows rows_to_fit(const CurveRows& data, const Vector& y, const CurveModelOptions& options) {
  const std::vector<Eigen::Index> subset = evenly_taken_curves(data.rows, options.fit_rows);
  return {data.rows.select(subset), y(subset)};
}

FittedKernel best_kernel(const CurveRows& data,
                         const Vector& y,
                         const CurveModelOptions& options,
                         const FitOptions& fit_options,
                         const Rng& rng) {
  const auto fit_with = [&, part = rows_to_fit(data, y, options)](TimeKind time) {
    return fit_kernel(part.rows, part.y, time, options, fit_options, rng);
  };
  if (options.time) return fit_with(*options.time);
  FittedKernel best = fit_with(kCurveKinds.front());
  for (const TimeKind kind : kCurveKinds | std::views::drop(1)) {
    FittedKernel other = fit_with(kind);
    if (other.summary.log_likelihood > best.summary.log_likelihood) best = std::move(other);
  }
  return best;
}

// One ascent from the hyperparameters of an earlier fit to nearly the same data.
FittedKernel refined_kernel(const CurveRows& data,
                            const Vector& y,
                            const GpParameters& start,
                            const CurveModelOptions& options,
                            const Rng& rng) {
  const FittedRows part = rows_to_fit(data, y, options);
  return fit_kernel(part.rows, part.y, start.kernel.time.kind, options, {.warm_start = start, .restarts = 0}, rng);
}

// Curve by curve the epochs of largest variance given the curves before, with the hyperparameters of a first, rough
// fit, which are returned.
GpParameters choose_greedily(std::vector<CurveSource>& curves,
                             const CurveModelOptions& options,
                             Epoch max_epoch,
                             const Rng& rng) {
  const CurveRows first = kept_rows(curves, max_epoch);
  const Response response = response_of(curves, first.values, options);
  const FittedKernel kernel = best_kernel(first, response.y, options, {.tolerance = 0.05}, rng.fork("points"));
  ExactGp gp(Rows::at_epochs(Matrix(0, first.rows.dim()), {}, max_epoch), Vector(0), kernel.parameters);
  for (CurveSource& curve : curves) {
    const std::vector<Epoch>& epochs = curve.response.epochs;
    const CurvePointChoice choice = choose_curve_points(gp, curve.x, curve.id, epochs, max_epoch);
    curve.kept.clear();
    std::vector<Epoch> chosen = choice.epochs;
    std::sort(chosen.begin(), chosen.end());
    for (const Epoch epoch : chosen) {
      curve.kept.push_back(
          static_cast<std::size_t>(std::lower_bound(epochs.begin(), epochs.end(), epoch) - epochs.begin()));
    }
    gp.append(Rows::of_curve(curve.x, chosen, max_epoch, curve.id), Vector::Zero(std::ssize(chosen)));
  }
  return kernel.parameters;
}

}  // namespace

FittedCurves fit_gp_curves(std::vector<CurveSource> curves,
                           CurveEpochs epochs,
                           const CurveModelOptions& options,
                           Rng& rng) {
  keep_points(curves, options.points);
  std::optional<GpParameters> first;
  if (options.points == PointRule::greedy) first = choose_greedily(curves, options, epochs.max, rng);
  thin(curves, options.max_rows);

  const CurveRows data = kept_rows(curves, epochs.max);
  Response response = response_of(curves, data.values, options);
  FittedKernel kernel =
      first ? refined_kernel(data, response.y, *first, options, rng) : best_kernel(data, response.y, options, {}, rng);
  ExactGp gp(data.rows, response.y, kernel.parameters, mean_of(options));
  kernel.summary.trend_weights = gp.trend_weights();  // those of all rows
  SlopeConstraint slopes = slope_constraint(gp, epochs.min, {.monotone = options.monotone});
  return {.surrogate = std::make_unique<GpCurves>(std::move(gp), std::move(slopes), kernel.summary),
          .response = std::move(response)};
}

}  // namespace bapi
