#include "bapi/cost/log_rate_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr std::size_t kConfigurationsForStartUp = 3;
constexpr double kStandardErrorsForStartUp = 4.0;
constexpr double kShareOfAnEpochForStartUp = 0.05;

// Share of a cost that stays a cost of its epochs, whatever the start-up.
constexpr double kShareOfEpochs = 0.05;

// Median absolute deviation to standard deviation of a normal, and of a mean to a median's error.
constexpr double kDeviationFromMad = 1.4826;
constexpr double kMedianInefficiency = 1.2533;

// First and last row of each configuration.
std::map<int, std::pair<Eigen::Index, Eigen::Index>> ends_of_curves(const CostData& data) {
  std::map<int, std::pair<Eigen::Index, Eigen::Index>> ends;
  for (Eigen::Index i = 0; i < data.costs.size(); ++i) {
    const auto [it, fresh] = ends.try_emplace(data.groups[i], i, i);
    if (fresh) continue;
    if (data.epochs[i] < data.epochs[it->second.first]) it->second.first = i;
    if (data.epochs[i] > data.epochs[it->second.second]) it->second.second = i;
  }
  return ends;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One configuration per row: the own term and the epoch play no part.
Rows rate_rows(const Matrix& x) { return Rows::at_configurations(x); }

GpParameters over_configurations(GpParameters parameters) {
  parameters.kernel.time = {.kind = TimeKind::constant};
  return parameters;
}

}  // namespace

LogRateCost::LogRateCost(const Rates& rates, GpParameters parameters, Cost start_up)
    : start_up_(start_up), gp_(rate_rows(rates.x), rates.logs, over_configurations(std::move(parameters))) {}

Moments LogRateCost::log_rate(const Matrix& x) const { return gp_.predict(rate_rows(x)); }

std::optional<double> LogRateCost::log_rate_seen(const Vector& x) const {
  const Matrix& seen = gp_.rows().x;
  for (Eigen::Index i = 0; i < seen.rows(); ++i) {
    if (seen.row(i).transpose() == x) return gp_.y()[i];
  }
  return std::nullopt;
}

Vector LogRateCost::median_increment(const Matrix& x,
                                     const std::vector<Epoch>& done,
                                     const std::vector<Epoch>& until) const {
  return increment(log_rate(x).mean.array().exp(), done, until);
}

Vector LogRateCost::mean_increment(const Matrix& x,
                                   const std::vector<Epoch>& done,
                                   const std::vector<Epoch>& until) const {
  const Moments moments = log_rate(x);
  return increment((moments.mean + 0.5 * moments.variance).array().exp(), done, until);
}

Vector LogRateCost::increment(const Vector& rates,
                              const std::vector<Epoch>& done,
                              const std::vector<Epoch>& until) const {
  Vector costs(rates.size());
  for (Eigen::Index i = 0; i < costs.size(); ++i) {
    costs(i) = rates(i) * (until[i] - done[i]) + (done[i] == 0 && until[i] > 0 ? start_up_ : 0.0);
  }
  return costs;
}

LogRateCost::Rates last_rates(const CostData& data, Cost start_up) {
  const auto ends = ends_of_curves(data);
  LogRateCost::Rates rates{Matrix(static_cast<Eigen::Index>(ends.size()), data.x.cols()),
                           Vector(static_cast<Eigen::Index>(ends.size()))};
  Eigen::Index i = 0;
  for (const auto& [group, rows] : ends) {
    const Eigen::Index last = rows.second;
    const double of_epochs = std::max(data.costs(last) - start_up, kShareOfEpochs * data.costs(last));
    rates.x.row(i) = data.x.row(last);
    rates.logs(i) = std::log(of_epochs) - std::log(data.epochs[last]);
    ++i;
  }
  return rates;
}

double rate_drift(const CostData& data, Cost start_up) {
  constexpr double kPriorDrift = 0.1;
  constexpr double kPriorCases = 2.0;
  constexpr double kLargestDrift = 2.0;  // of one configuration: a pause of the machine, not a rate
  constexpr double kRounding = 1e-9;
  double squares = kPriorCases * kPriorDrift * kPriorDrift;
  double cases = kPriorCases;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = 0.0;
  const auto ends = ends_of_curves(data);
  for (Eigen::Index i = 0; i < data.costs.size(); ++i) {
    const double rate = data.costs(i) / data.epochs[i];
    lowest = std::min(lowest, rate);
    highest = std::max(highest, rate);
    const auto [first, last] = ends.at(data.groups[i]);
    if (i == first || i == last || data.epochs[i] >= data.epochs[last]) continue;
    const double before = std::max(data.costs(i) - start_up, kShareOfEpochs * data.costs(i)) / data.epochs[i];
    const double after = (data.costs(last) - data.costs(i)) / (data.epochs[last] - data.epochs[i]);
    if (!(after > 0.0)) continue;
    const double drift = std::clamp(std::log(after / before), -kLargestDrift, kLargestDrift);
    squares += drift * drift;
    cases += 1.0;
  }
  return highest <= lowest * (1.0 + kRounding) ? 0.0 : std::sqrt(squares / cases);
}

Cost start_up_cost(const CostData& data) {
  std::vector<double> intercepts;
  std::vector<double> rates;
  for (const auto& [group, rows] : ends_of_curves(data)) {
    const auto [first, last] = rows;
    const int span = data.epochs[last] - data.epochs[first];
    if (span == 0) continue;
    const double rate = (data.costs(last) - data.costs(first)) / span;
    rates.push_back(rate);
    intercepts.push_back(data.costs(first) - rate * data.epochs[first]);
  }
  if (intercepts.size() < kConfigurationsForStartUp) return 0.0;
  const double typical = median(intercepts);
  std::vector<double> deviations;
  for (const double intercept : intercepts) deviations.push_back(std::abs(intercept - typical));
  const double error =
      kMedianInefficiency * kDeviationFromMad * median(deviations) / std::sqrt(static_cast<double>(intercepts.size()));
  const bool clear = typical > kStandardErrorsForStartUp * error;
  return clear && typical > kShareOfAnEpochForStartUp * median(rates) ? typical : 0.0;
}

}  // namespace bapi
