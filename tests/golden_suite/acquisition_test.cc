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

BatchImprovement empty_set(const ExactGp& gp, const BaseSamples& base, double best, const BatchOptions& options) {
  return BatchImprovement(JointDraws(gp, slope_constraint_at({}, {}), base, 0.0), best, options);
}

Growth grow(BatchImprovement batch, const std::vector<Rows>& points) {
  Growth growth{Vector(static_cast<Eigen::Index>(points.size())), {}, {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    growth.scores[static_cast<Eigen::Index>(i)] = batch.scores({points[i]})[0];
    if (i + 1 == points.size()) growth.last_gradient = batch.score_gradients({points[i]}).gradients.col(0);
    batch.add(points[i]);
  }
  growth.samples = batch.draws().values();
  return growth;
}

// q-EI as the plain average over the draws of the first `points` points.
double sampled_improvement(const JointDraws& draws, Eigen::Index points, double best) {
  const Vector top = draws.values().leftCols(points).rowwise().maxCoeff();
  return normalised_weights(draws.log_weights()).dot((top.array() - best).cwiseMax(0.0).matrix());
}

// Its gradient in the x of a point that would come next: of the draws in which that point is the best, without
// constraint.
Vector sampled_gradient(const JointDraws& draws, const Rows& point, double best) {
  const std::vector<DrawExtension> next = draws.extend({point});
  const DrawGradient slope = draws.gradients(next).front();
  const Vector normals = draws.base().normals.col(draws.points());
  const Matrix before = draws.values();
  Vector gradient = Vector::Zero(slope.sd.size());
  for (Eigen::Index j = 0; j < normals.size(); ++j) {
    const double f = next.front().mean[j] + next.front().sd * normals[j];
    if (f > best && f > before.row(j).maxCoeff()) gradient += slope.mean.row(j).transpose() + normals[j] * slope.sd;
  }
  return gradient / static_cast<double>(normals.size());
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
    BatchImprovement drawn = empty_set(gp, base, best, {});
    Vector sampled(rows.size());
    for (Eigen::Index i = 0; i < rows.size(); ++i) {
      if (i + 1 == rows.size()) c.expect("qei_grad_last_x", sampled_gradient(drawn.draws(), points.back(), best));
      drawn.add(points[static_cast<std::size_t>(i)]);
      sampled[i] = sampled_improvement(drawn.draws(), i + 1, best);
    }
    c.expect("qei_after_each_point", sampled);
    c.expect("samples", drawn.draws().values());
    const Vector top = drawn.draws().values().rowwise().maxCoeff();
    c.expect("qpi_indicator", (top.array() >= best).cast<double>().mean());

    const Growth integrated = grow(empty_set(gp, base, best, {}), points);
    c.expect("qei_rao_blackwell_after_each_point", integrated.scores);
    c.expect("qei_rao_blackwell_grad_last_x", integrated.last_gradient);

    const auto last = [&](BatchScore score) {
      return grow(empty_set(gp, base, best, {.score = score}), points).scores[rows.size() - 1];
    };
    ASSERT_EQ(c.inputs()["ucb_beta"].number(), kUpperBoundBeta);
    ASSERT_EQ(c.inputs()["pi_temperature"].number(), kProbabilityTemperature);
    c.expect("qucb", last(BatchScore::upper_bound));
    c.expect("qpi_sigmoid", last(BatchScore::probability));
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
  BatchImprovement integrated(JointDraws(gp, slopes, base, jitter_of(c)), best);
  LocalGrowth growth{Vector(x.rows()), Vector(x.rows()), Matrix(x.rows(), base.normals.rows()), Vector(x.rows()), {}};
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Rows rows = slopes.rows_and_value_at_tau(x.row(i), 0, tau);
    growth.integrated[i] = integrated.scores({rows})[0];
    growth.sd[i] = integrated.draws().extend({rows}).front().sd;
    integrated.add(rows);
    growth.sampled[i] = sampled_improvement(integrated.draws(), i + 1, best);
    growth.log_weights.row(i) = integrated.draws().log_weights();
  }
  growth.values = integrated.draws().values();
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
