#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "bapi/planner/conservative_stop.h"
#include "bapi/planner/curve_points.h"
#include "bapi/planner/early_termination.h"
#include "bapi/planner/epsilon.h"
#include "golden.h"
#include "model.h"

namespace bapi::golden {
namespace {

StopRule rule_of(const Case& c, double epsilon) {
  return {.epsilon = epsilon, .min_epoch = c.inputs()["t_min"].integer(), .max_epoch = c.inputs()["t_max"].integer()};
}

void check_table(Case& c) {
  const StopRule rule = rule_of(c, c.inputs()["epsilon"].number());
  const Vector means = c.inputs()["mean_by_epoch"].vector();
  // The table starts at epoch 1, whatever t_min is.
  c.expect("t_opt", conservative_stop([&](Epoch t) { return means[t - 1]; }, rule));
  if (c.expects("t_opt_running_max")) {
    c.expect("t_opt_running_max",
             conservative_stop_by_scan(means.segment(rule.min_epoch - 1, rule.max_epoch - rule.min_epoch + 1), rule));
  }
}

void check_model_stop(Case& c) {
  const ExactGp gp = model_of(c);
  const Vector x = c.inputs()["x"].vector();
  const MonotoneGp posterior(gp, Constraint::on_slopes(slopes_of(c), x, -1));
  const double epsilon = c.inputs().has("epsilon_raw")
                             ? c.inputs()["epsilon_raw"].number() / c.inputs()["y_std"].number()
                             : c.inputs()["epsilon"].number();
  const StopRule rule = rule_of(c, epsilon);
  const Vector means = curve_means(posterior, x, -1, rule.min_epoch, rule.max_epoch, rule.max_epoch);
  bool monotone = true;
  for (Eigen::Index i = 1; i < means.size(); ++i) monotone = monotone && means[i] >= means[i - 1];

  if (c.expects("mean_by_epoch")) c.expect("mean_by_epoch", means);
  if (c.expects("mean_is_monotone")) c.expect("mean_is_monotone", monotone);
  if (c.expects("epsilon_standardised")) c.expect("epsilon_standardised", epsilon);
  c.expect("t_opt", conservative_stop([&](Epoch t) { return means[t - rule.min_epoch]; }, rule));
  if (c.expects("t_opt_running_max")) c.expect("t_opt_running_max", conservative_stop(posterior, x, -1, rule));
  if (c.expects("weights_Z")) c.expect("weights_Z", posterior.data_weights());
  if (c.expects("weights_V")) c.expect("weights_V", posterior.constraint_weights());
}

void check_epsilon(Case& c) {
  std::vector<std::vector<CurvePoint>> curves;
  const Value list = c.inputs()["curves"];
  for (int i = 0; i < list.size(); ++i) {
    curves.emplace_back();
    for (int j = 0; j < list.at(i).size(); ++j) {
      curves.back().push_back({list.at(i).at(j)["epoch"].integer(), list.at(i).at(j)["y"].number()});
    }
  }
  c.expect("epsilon", observed_epsilon(curves, c.inputs()["t_max"].integer(), c.inputs()["floor"].number()));
}

void check_termination_rule(Case& c) {
  const Value in = c.inputs();
  const double noise = in.number_or("noise_added", 0.0);
  c.expect("stop",
           should_terminate(in["mean_at_opt"].number(),
                            std::sqrt(in["var_at_opt"].number() + noise),
                            std::sqrt(in["var_at_last"].number() + noise),
                            in["y_best"].number(),
                            in["tau"].number()));
}

TEST(Golden, Stopping) {
  for_each_case("stopping", [](Case& c) {
    if (c.inputs().has("mean_by_epoch")) return check_table(c);
    if (c.inputs().has("curves")) return check_epsilon(c);
    if (c.inputs().has("var_at_opt")) return check_termination_rule(c);
    if (c.inputs().has("X")) return check_model_stop(c);
    throw std::runtime_error("unknown kind of case");
  });
}

TEST(Golden, CurvePoints) {
  for_each_case("curve_points", [](Case& c) {
    const Value in = c.inputs();
    const LastEpoch last = in["keep_last"].boolean() ? LastEpoch::keep : LastEpoch::free;
    const CurvePointChoice choice = choose_curve_points(model_of(c),
                                                        in["x"].vector(),
                                                        -1,
                                                        in["epochs"].integers(),
                                                        in["t_max"].integer(),
                                                        {.count = in["k"].integer(), .last = last});
    c.expect("chosen_epochs_in_order", choice.epochs);
    c.expect("variance_when_chosen", choice.variance);
    c.expect("initial_variance", choice.initial_variance);
  });
}

}  // namespace
}  // namespace bapi::golden
