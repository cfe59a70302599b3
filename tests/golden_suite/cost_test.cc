#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"
#include "bapi/cost/cost_model.h"
#include "bapi/gp/log_likelihood.h"
#include "golden.h"
#include "tests/support/references.h"

namespace bapi::golden {
namespace {

SpaceKernel space_kernel(const Value& kx) {
  const std::string kind = kx["kind"].text();
  require(kind == "rbf" || kind == "matern52", "unknown kernel over x: " + kind);
  return {kind == "rbf" ? SpaceKind::rbf : SpaceKind::matern52, kx["ell"].vector()};
}

struct Query {
  Matrix x;
  std::vector<int> until;
  std::vector<int> done;
};

void expect_linear(Case& c, const CostData& data, Epoch max_epoch, const Query& query) {
  GpParameters parameters;
  parameters.kernel.amplitude = c.params()["s2"].number();
  parameters.kernel.space = space_kernel(c.params()["kx"]);
  parameters.kernel.time = {.kind = TimeKind::linear, .bias = c.params()["bias"].number()};
  parameters.noise = c.params()["noise"].number();
  const double scale = c.params()["scale"].number();
  const LinearCost literal(data, max_epoch, parameters, scale, LinearCost::Mean::zero);
  c.expect("literal_zero_mean/mean", literal.mean(query.x, query.until));
  c.expect("literal_zero_mean/var", literal.variance(query.x, query.until));
  LogLikelihood likelihood(literal.gp().rows(), literal.gp().y(), parameters, {.coefficient = 0.0});
  Vector gradient;
  c.expect("literal_zero_mean/lml", likelihood(log_parameters(parameters), gradient));
  c.expect("literal_zero_mean/grad", gradient);
  c.expect("literal_zero_mean/grad_names", log_parameter_names(parameters));

  const LinearCost linear(data, max_epoch, parameters, scale, LinearCost::Mean::proportional);
  c.expect("linear_mean/rate_gls", linear.gp().mean_coefficient());
  c.expect("linear_mean/mean", linear.mean(query.x, query.until));
  c.expect("linear_mean/var", linear.variance(query.x, query.until));
  const Vector increment = linear.increment(query.x, query.done, query.until);
  c.expect("linear_mean/incremental", increment);
  Vector floored = increment;
  for (Eigen::Index i = 0; i < floored.size(); ++i) {
    floored(i) = std::max(floored(i), lowest_credible_rate(data) * (query.until[i] - query.done[i]));
  }
  c.expect("linear_mean/incremental_floored", floored);
  c.expect_true(std::abs(lowest_credible_rate(data) - c.params()["floor_rate"].number()) < 1e-12, "floor rate");
  c.expect_true(std::abs(cost_scale(data, max_epoch) - scale) < 1e-9 * scale, "scale");
}

void expect_log_rate(Case& c, const CostData& data, const Query& query) {
  const Value params = c.params()["log_rate"];
  GpParameters parameters;
  parameters.kernel.amplitude = params["s2"].number();
  parameters.kernel.space = space_kernel(c.params()["kx"]);
  parameters.kernel.time = {.kind = TimeKind::constant};
  parameters.noise = params["noise"].number();
  const LogRateCost::Rates rates = last_rates(data, 0.0);
  const LogRateCost model(rates, parameters);
  c.expect("log_rate/targets", rates.logs);
  c.expect("log_rate/mean_gls", model.gp().mean_coefficient());
  const Moments moments = model.log_rate(query.x);
  c.expect("log_rate/mu", moments.mean);
  c.expect("log_rate/var", moments.variance);
  const std::vector<int> none(query.until.size(), 0);
  c.expect("log_rate/median_cost", model.median_increment(query.x, none, query.until));
  c.expect("log_rate/mean_cost", model.mean_increment(query.x, none, query.until));
  c.expect("log_rate/incremental_median", model.median_increment(query.x, query.done, query.until));
}

// Rows of equal x are one configuration, in the order of the file.
std::vector<int> groups_by_x(const Matrix& x) {
  std::vector<int> groups;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    int group = static_cast<int>(i);
    for (Eigen::Index j = i; j-- > 0;) {
      if (x.row(j) == x.row(i)) group = groups[j];
    }
    groups.push_back(group);
  }
  return groups;
}

TEST(Golden, Cost) {
  for_each_case("cost", [](Case& c) {
    const Matrix x = c.inputs()["X"].matrix();
    const CostData data{.x = x,
                        .epochs = c.inputs()["epochs"].integers(),
                        .costs = c.inputs()["cost"].vector(),
                        .groups = groups_by_x(x)};
    const Query query{
        c.inputs()["XS"].matrix(), c.inputs()["epochsS"].integers(), c.inputs()["epochs_done"].integers()};
    expect_linear(c, data, c.inputs()["t_max"].integer(), query);
    expect_log_rate(c, data, query);
  });
}

}  // namespace
}  // namespace bapi::golden
