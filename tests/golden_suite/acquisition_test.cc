#include <gtest/gtest.h>

#include <cmath>

#include "bapi/acquisition/batch_improvement.h"
#include "bapi/acquisition/improvement.h"
#include "golden.h"
#include "model.h"
#include "tests/support/references.h"

namespace bapi::golden {
namespace {

// jitter_f is an absolute variance; the library's is relative to the amplitude.
double jitter_of(const Case& c) { return c.params().number_or("jitter_f", 0.0) / c.params()["s2"].number(); }

BatchImprovement::Gradients weighted_improvement(const ExactGp& gp,
                                                 const SlopeConstraint& slopes,
                                                 const Matrix& uniforms,
                                                 double jitter,
                                                 const Rows& rows,
                                                 double best) {
  // One point: its own normal is integrated out.
  const BaseSamples base{uniforms, Matrix::Zero(uniforms.rows(), 1)};
  return BatchImprovement(JointDraws(gp, slopes, base, jitter), best).score_gradients({rows});
}

void check_scalars(Case& c) {
  const Vector mean = c.inputs()["mu"].vector();
  const Vector sd = c.inputs()["sd"].vector();
  const double best = c.inputs()["best"].number();
  Vector ei(mean.size());
  Vector log_ei(mean.size());
  for (Eigen::Index i = 0; i < mean.size(); ++i) {
    ei[i] = expected_improvement(mean[i], sd[i], best);
    log_ei[i] = log_expected_improvement(mean[i], sd[i], best);
  }
  c.expect("ei", ei);
  c.expect("log_ei", log_ei);
}

void check_model(Case& c) {
  const ExactGp gp = model_of(c);
  const SlopeConstraint slopes = slopes_of(c);
  const Vector x = c.inputs()["x"].vector();
  const double tau = c.inputs()["tau_star"].number();
  const double best = c.inputs()["best"].number();
  const Rows row = Rows::at_taus(x.transpose(), Vector::Constant(1, tau));
  const Rows rows = slopes.rows_and_value_at_tau(x, 0, tau);

  const BatchImprovement::Gradients weighted =
      weighted_improvement(gp, slopes, c.inputs()["U"].matrix(), jitter_of(c), rows, best);
  c.expect("ei_weighted_from_U", weighted.values[0]);
  c.expect("ei_weighted_from_U_grad_x", Vector(weighted.gradients.col(0)));

  const Moments plain = gp.predict(row);
  const double plain_sd = std::sqrt(plain.variance[0]);
  const ImprovementGradients log_ei = log_expected_improvement(gp, row, best);
  c.expect("unconstrained_mean", plain.mean[0]);
  c.expect("unconstrained_sd", plain_sd);
  c.expect("ei_unconstrained", expected_improvement(plain.mean[0], plain_sd, best));
  c.expect("log_ei_unconstrained", log_ei.log_values[0]);
  c.expect("ei_unconstrained_grad_x", Vector(std::exp(log_ei.log_values[0]) * log_ei.gradients.col(0)));

  const MonotoneGp posterior(gp, Constraint::on_slopes(slopes, x, 0));
  const Moments constrained = posterior.predict(row);
  c.expect("constrained_mean", constrained.mean[0]);
  c.expect("constrained_sd", std::sqrt(constrained.variance[0]));
  c.expect("ei_constrained_mixture", std::exp(log_constrained_improvement(posterior, row, best)));
  c.expect("ei_moment_matched", std::exp(log_moment_matched_improvement(posterior, row, best)));

  // The gradient of the exact value is the limit of the weighted one.
  Rng rng(1);
  const BaseSamples many = BaseSamples::draw(1 << 16, 1, slopes.size(), rng);
  const BatchImprovement::Gradients limit = weighted_improvement(gp, slopes, many.uniforms, jitter_of(c), rows, best);
  c.expect("ei_constrained_mixture_grad_x", Vector(limit.gradients.col(0)), 2e-5);
}

TEST(Golden, ExpectedImprovement) {
  for_each_case("ei", [](Case& c) { c.inputs().has("mu") ? check_scalars(c) : check_model(c); });
}

// Scores of growing sets; the gradient is that of the last point.
struct Growth {
  Vector scores;
  Vector last_gradient;
  Matrix samples;
};

Growth grow(const ExactGp& gp,
            const std::vector<Rows>& points,
            const BaseSamples& base,
            double best,
            const BatchOptions& options) {
  BatchImprovement batch(JointDraws(gp, slope_constraint_at({}, {}), base, 0.0), best, options);
  Growth growth{Vector(static_cast<Eigen::Index>(points.size())), {}, {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    growth.scores[static_cast<Eigen::Index>(i)] = batch.scores({points[i]})[0];
    if (i + 1 == points.size()) growth.last_gradient = batch.score_gradients({points[i]}).gradients.col(0);
    batch.add(points[i]);
  }
  growth.samples = batch.draws().values();
  return growth;
}

TEST(Golden, BatchImprovement) {
  for_each_case("qei", [](Case& c) {
    const ExactGp gp = model_of(c);
    const Rows rows = rows_of(c, "XS", "tauS");
    const BaseSamples base{Matrix(c.inputs()["base_normals"].size(), 0), c.inputs()["base_normals"].matrix()};
    const double best = c.inputs()["best"].number();
    std::vector<Rows> points;
    for (Eigen::Index i = 0; i < rows.size(); ++i) points.push_back(rows.select({i}));

    const JointMoments joint = gp.predict_joint(rows);
    c.expect("mean", joint.mean);
    c.expect("cov", joint.covariance);
    const Growth sampled = grow(gp, points, base, best, {.averaging = Averaging::sampled});
    c.expect("samples", sampled.samples);
    c.expect("qei_after_each_point", sampled.scores);
    c.expect("qei_grad_last_x", sampled.last_gradient);
    const Growth integrated = grow(gp, points, base, best, {});
    c.expect("qei_rao_blackwell_after_each_point", integrated.scores);
    c.expect("qei_rao_blackwell_grad_last_x", integrated.last_gradient);

    const auto last = [&](const BatchOptions& options) {
      return grow(gp, points, base, best, options).scores[rows.size() - 1];
    };
    c.expect("qucb", last({.score = BatchScore::upper_bound, .ucb_beta = c.inputs()["ucb_beta"].number()}));
    c.expect("qpi_indicator", last({.score = BatchScore::probability, .pi_temperature = 0.0}));
    c.expect("qpi_sigmoid",
             last({.score = BatchScore::probability, .pi_temperature = c.inputs()["pi_temperature"].number()}));
  });
}

struct LocalGrowth {
  Vector sampled;
  Vector integrated;
  Matrix log_weights;  // points x draws
  Vector sd;
  Matrix values;
};

LocalGrowth grow_locally(const Case& c, const ExactGp& gp, const BaseSamples& base) {
  const SlopeConstraint slopes = slopes_of(c);
  const Matrix x = c.inputs()["XS"].matrix();
  const double best = c.inputs()["best"].number();
  const double tau = c.inputs()["tau_star"].number();
  BatchImprovement sampled(JointDraws(gp, slopes, base, jitter_of(c)), best, {.averaging = Averaging::sampled});
  BatchImprovement integrated(JointDraws(gp, slopes, base, jitter_of(c)), best);
  LocalGrowth growth{Vector(x.rows()), Vector(x.rows()), Matrix(x.rows(), base.normals.rows()), Vector(x.rows()), {}};
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Rows rows = slopes.rows_and_value_at_tau(x.row(i), 0, tau);
    growth.sampled[i] = sampled.scores({rows})[0];
    growth.integrated[i] = integrated.scores({rows})[0];
    growth.sd[i] = sampled.draws().extend({rows}).front().sd;
    sampled.add(rows);
    integrated.add(rows);
    growth.log_weights.row(i) = sampled.draws().log_weights();
  }
  growth.values = sampled.draws().values();
  return growth;
}

TEST(Golden, LocalBatchImprovement) {
  for_each_case("qei_local", [](Case& c) {
    const ExactGp gp = model_of(c);
    const LocalGrowth given = grow_locally(c, gp, {c.inputs()["U"].matrix(), c.inputs()["base_normals"].matrix()});
    c.expect("value_after_each_point", given.sampled);
    c.expect("rao_blackwell_after_each_point", given.integrated);
    c.expect("log_weights_after_each_point", given.log_weights);
    c.expect("f_samples", given.values);
    c.expect("cond_sd", given.sd);

    Rng rng(1);
    const BaseSamples many = BaseSamples::draw(1 << 15, c.inputs()["XS"].size(), c.inputs()["tauv"].size(), rng);
    c.expect("large_sample_value_after_each_point", grow_locally(c, gp, many).integrated);
  });
}

}  // namespace
}  // namespace bapi::golden
