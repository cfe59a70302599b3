#include "bapi/cost/linear_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr double kCredibleShare = 0.1;

PriorMean prior_mean(LinearCost::Mean mean) {
  if (mean == LinearCost::Mean::zero) return {.shape = MeanShape::constant, .coefficient = 0.0};
  return {.shape = MeanShape::proportional};
}

Rows data_rows(const CostData& data, Epoch max_epoch) {
  return Rows::at_epochs(data.x, data.epochs, max_epoch, data.groups);
}

}  // namespace

void CostData::validate() const {
  const auto n = static_cast<std::size_t>(costs.size());
  check(epochs.size() == n && groups.size() == n && x.rows() == costs.size(), "cost data: parts differ in length");
  for (std::size_t i = 0; i < n; ++i) {
    require(epochs[i] >= 1, fmt::format("cost data: epoch {} is below 1", epochs[i]));
    require(std::isfinite(costs(i)) && costs(i) > 0.0, fmt::format("cost data: cost {} is not positive", costs(i)));
  }
}

LinearCost::LinearCost(const CostData& data, Epoch max_epoch, GpParameters parameters, double scale, Mean mean)
    : max_epoch_(max_epoch),
      scale_(scale),
      gp_(data_rows(data, max_epoch), data.costs / scale, std::move(parameters), prior_mean(mean)) {}

Vector LinearCost::mean(const Matrix& x, const std::vector<Epoch>& epochs) const {
  return scale_ * gp_.predict(Rows::at_epochs(x, epochs, max_epoch_)).mean;
}

Vector LinearCost::variance(const Matrix& x, const std::vector<Epoch>& epochs) const {
  return scale_ * scale_ * gp_.predict(Rows::at_epochs(x, epochs, max_epoch_)).variance;
}

Vector LinearCost::increment(const Matrix& x, const std::vector<Epoch>& done, const std::vector<Epoch>& until) const {
  Vector difference = mean(x, until);
  const Vector spent = mean(x, done);
  for (Eigen::Index i = 0; i < difference.size(); ++i) {
    if (done[i] > 0) difference(i) -= spent(i);
  }
  return difference;
}

double cost_scale(const CostData& data, Epoch max_epoch) {
  if (data.costs.size() == 0) return 1.0;
  double largest = 0.0;
  Vector rates(data.costs.size());
  for (Eigen::Index i = 0; i < rates.size(); ++i) {
    rates(i) = data.costs(i) / data.epochs[i] * max_epoch;
    largest = std::max(largest, rates(i));
  }
  // In units of the largest rate: costs of 1e300 have no square.
  return largest * std::sqrt((rates / largest).squaredNorm() / static_cast<double>(rates.size()));
}

double lowest_credible_rate(const CostData& data) {
  if (data.costs.size() == 0) return 0.0;
  double lowest = data.costs(0) / data.epochs[0];
  for (Eigen::Index i = 1; i < data.costs.size(); ++i) lowest = std::min(lowest, data.costs(i) / data.epochs[i]);
  return kCredibleShare * lowest;
}

}  // namespace bapi
