#include "bapi/cost/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

namespace bapi {
namespace {

// Rows of one curve are exactly collinear under the linear kernel; below this noise the covariance is singular.
constexpr double kSmallestLinearNoise = 1e-6;

// Learned from recorded trainings, see docs/benchmarks.md.
constexpr ErrorLaw kErrorsOfFirst{.scale = 0.56, .tail = 0.71};
constexpr ErrorLaw kErrorsOfFurther{.scale = 0.87, .tail = 0.62};

GpParameters structure(int dim, TimeKind kind, SpaceKind space) {
  GpParameters parameters;
  parameters.kernel.space = {space, Vector::Ones(dim)};
  parameters.kernel.time.kind = kind;
  return parameters;
}

// At most `count` rows of each configuration: its last one and others evenly before it.
CostData thinned(const CostData& data, int count) {
  std::map<int, std::vector<Eigen::Index>> curves;
  for (Eigen::Index i = 0; i < data.costs.size(); ++i) curves[data.groups[i]].push_back(i);
  std::vector<Eigen::Index> kept;
  for (auto& [group, rows] : curves) {
    std::sort(
        rows.begin(), rows.end(), [&](Eigen::Index a, Eigen::Index b) { return data.epochs[a] < data.epochs[b]; });
    const auto n = static_cast<Eigen::Index>(rows.size());
    const Eigen::Index wanted = std::min<Eigen::Index>(n, count);
    for (Eigen::Index k = 1; k <= wanted; ++k) kept.push_back(rows[k * n / wanted - 1]);
  }
  CostData result;
  result.x.resize(static_cast<Eigen::Index>(kept.size()), data.x.cols());
  result.costs.resize(static_cast<Eigen::Index>(kept.size()));
  for (Eigen::Index i = 0; i < result.costs.size(); ++i) {
    result.x.row(i) = data.x.row(kept[i]);
    result.costs(i) = data.costs(kept[i]);
    result.epochs.push_back(data.epochs[kept[i]]);
    result.groups.push_back(data.groups[kept[i]]);
  }
  return result;
}

// Costs of absurd size or of nothing at all, in a unit in which their logs and squares are harmless.
double rate_without_data(const CostData& data, const CostOptions& options) {
  return data.costs.size() == 0 ? options.rate_without_data : 0.0;
}

}  // namespace

ErrorLaw log_cost_errors(Epoch done) { return done > 0 ? kErrorsOfFurther : kErrorsOfFirst; }

void CostOptions::validate() const {
  require(rate_without_data > 0.0, fmt::format("cost.rate_without_data = {}, must be positive", rate_without_data));
  require(rows_per_configuration >= 1,
          fmt::format("cost.rows_per_configuration = {}, must be at least 1", rows_per_configuration));
  fit.validate();
}

CostModel::CostModel(Form form, CostEstimate estimate, double floor_rate, double drift)
    : form_(std::move(form)), estimate_(estimate), floor_rate_(floor_rate), drift_(drift) {}

CostModel CostModel::fit(const CostData& data, int dim, Epoch max_epoch, const CostOptions& options, Rng& rng) {
  options.validate();
  data.validate();
  FitOptions fit_options = options.fit;
  fit_options.priors = HyperPriors::for_log_rates();
  const double floor_rate = std::max(lowest_credible_rate(data), rate_without_data(data, options));
  if (options.form == CostForm::log_rate) {
    const Cost start_up = start_up_cost(data);
    LogRateCost::Rates rates = last_rates(data, start_up);
    rates.x.conservativeResize(Eigen::NoChange, dim);
    fit_options.mean = {};
    if (data.costs.size() == 0) fit_options.mean.coefficient = std::log(options.rate_without_data);
    const FitResult fitted = bapi::fit(Rows::at_configurations(rates.x),
                                       rates.logs,
                                       structure(dim, TimeKind::constant, SpaceKind::matern52),
                                       fit_options,
                                       rng);
    return {
        LogRateCost(rates, fitted.gp.parameters(), start_up), options.estimate, floor_rate, rate_drift(data, start_up)};
  }
  CostData few = thinned(data, options.rows_per_configuration);
  few.x.conservativeResize(Eigen::NoChange, dim);
  const double scale = cost_scale(few, max_epoch);
  const bool literal = options.form == CostForm::literal;
  fit_options.priors.noise.low = std::max(fit_options.priors.noise.low, kSmallestLinearNoise);
  fit_options.mean = literal ? PriorMean{.shape = MeanShape::constant, .coefficient = 0.0}
                             : PriorMean{.shape = MeanShape::proportional};
  GpParameters linear = structure(dim, TimeKind::linear, SpaceKind::rbf);
  if (start_up_cost(data) > 0.0) linear.kernel.time.bias = 0.05;
  const FitResult fitted =
      bapi::fit(Rows::at_epochs(few.x, few.epochs, max_epoch, few.groups), few.costs / scale, linear, fit_options, rng);
  return {LinearCost(few,
                     max_epoch,
                     fitted.gp.parameters(),
                     scale,
                     literal ? LinearCost::Mean::zero : LinearCost::Mean::proportional),
          options.estimate,
          floor_rate};
}

Vector CostModel::until(const Matrix& x, const std::vector<Epoch>& until) const {
  return between(x, std::vector<Epoch>(until.size(), 0), until);
}

Vector CostModel::between(const Matrix& x, const std::vector<Epoch>& done, const std::vector<Epoch>& until) const {
  check(done.size() == until.size() && x.rows() == static_cast<Eigen::Index>(until.size()),
        "cost model: points and epochs differ in length");
  Vector costs = std::visit(Match{[&](const LinearCost& linear) { return linear.increment(x, done, until); },
                                  [&](const LogRateCost& rates) {
                                    return estimate_ == CostEstimate::median ? rates.median_increment(x, done, until)
                                                                             : rates.mean_increment(x, done, until);
                                  }},
                            form_);
  for (Eigen::Index i = 0; i < costs.size(); ++i) {
    const Epoch epochs = until[i] - done[i];
    check(epochs >= 0, "cost model: the last epoch lies before those already done");
    costs(i) = epochs == 0 ? 0.0 : std::max(costs(i), floor_rate_ * epochs);
  }
  return costs;
}

Cost CostModel::between(const Vector& x, Epoch done, Epoch until) const {
  return between(Matrix(x.transpose()), std::vector<Epoch>{done}, std::vector<Epoch>{until})(0);
}

double CostModel::log_sd(const Vector& x, Epoch done) const {
  const auto* rates = std::get_if<LogRateCost>(&form_);
  if (!rates || drift_ == 0.0) return 0.0;
  const Moments rate = rates->log_rate(x.transpose());
  double variance = rate.variance[0] + drift_ * drift_;
  // A configuration that was trained has shown its rate: what the model misses of it is known, all else is drift.
  const std::optional<double> own = done > 0 ? rates->log_rate_seen(x) : std::nullopt;
  variance += own ? (*own - rate.mean[0]) * (*own - rate.mean[0]) : rates->gp().parameters().noise;
  return std::sqrt(variance);
}

Cost CostModel::start_up() const {
  const auto* rates = std::get_if<LogRateCost>(&form_);
  return rates ? rates->start_up() : 0.0;
}

}  // namespace bapi
