#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>

#include "bapi/gp/monotone_gp.h"
#include "bapi/math/box_quadrature.h"
#include "golden.h"
#include "model.h"
#include "tests/support/references.h"

namespace bapi::golden {
namespace {

// Enough that the error of estimated moments is well below their tolerance.
constexpr int kPoints = 1 << 15;

Constraint constraint_of(const Case& c) {
  Constraint constraint;
  constraint.rows = rows_of(c, "Xv", "tauv");
  std::fill(constraint.rows.op.begin(), constraint.rows.op.end(), Op::slope);
  constraint.noise = slope_noise_of(c, constraint.rows.size());
  constraint.lower = Vector::Zero(constraint.rows.size());
  if (c.params().has("lower")) constraint.lower = c.params()["lower"].vector();
  return constraint;
}

// The paper's A1 ... Sigma, which the library never forms, from the blocks of the joint Cholesky factor.
TEST(Golden, MonotoneMatrices) {
  for_each_case("mono_matrices", [](Case& c) {
    const ExactGp gp = model_of(c);
    const MonotoneGp monotone(gp, constraint_of(c));
    const Rows queries = rows_of(c, "XS", "tauS");
    const JointFactor joint = monotone.joint_factor(queries);
    const Matrix l1 = monotone.unconstrained_factor();

    const Matrix a1 = gp.factor().solve_lower_transposed(joint.whitened_constraint).transpose();
    const Matrix a2 = gp.factor().solve_lower_transposed(joint.whitened_query).transpose();
    const Matrix a = l1.transpose().partialPivLu().solve(joint.coupling).transpose();
    c.expect("A1", a1);
    c.expect("A2", a2);
    c.expect("B1", Matrix(l1 * l1.transpose()));
    c.expect("B2", Matrix(joint.remainder + joint.coupling.transpose() * joint.coupling));
    c.expect("B3", Matrix((l1 * joint.coupling).transpose()));
    c.expect("A", a);
    c.expect("B", Matrix(a2 - a * a1));
    c.expect("Sigma", joint.remainder);
    c.expect("nu", monotone.unconstrained_mean());
    c.expect("L1", l1);
    c.expect("V3", joint.coupling);
    c.expect("mean_unconstrained", gp.predict(queries).mean);
  });
}

TEST(Golden, MonotonePosterior) {
  for_each_case("mono_posterior", [](Case& c) {
    const ExactGp gp = model_of(c);
    const MomentOptions moments{.quadrature_dimensions = kMaxQuadratureDimensions, .points = kPoints};
    const MonotoneGp monotone(gp, constraint_of(c), moments);
    const Rows queries = rows_of(c, "XS", "tauS");
    const double prior = log_prior_probability(monotone, moments);
    c.expect("log_p_C_given_Y", monotone.log_probability());
    c.expect("log_p_C", prior);
    c.expect("log_p_Y", gp.log_likelihood());
    c.expect("log_p_Y_given_C", gp.log_likelihood() + monotone.log_probability() - prior);
    c.expect("nu", monotone.unconstrained_mean());
    c.expect("C_mean", monotone.constrained_mean());
    if (c.expects("C_cov")) c.expect("C_cov", monotone.constrained_covariance());
    if (c.expects("C_var")) c.expect("C_var", Vector(monotone.constrained_covariance().diagonal()));

    const JointMoments joint = monotone.predict_joint(queries);
    const Moments predicted = monotone.predict(queries);
    c.expect("mean", joint.mean);
    c.expect("mean", predicted.mean);
    c.expect("mean", monotone.mean(queries));
    if (c.expects("cov")) {
      c.expect("cov", joint.covariance);
      c.expect_true((joint.covariance.diagonal() - predicted.variance).norm() < 1e-9, "both variances agree");
    }
    if (c.expects("var")) {
      c.expect("var", Vector(joint.covariance.diagonal()));
      c.expect("var", predicted.variance);
    }
  });
}

}  // namespace
}  // namespace bapi::golden
