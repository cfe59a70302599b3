#include <gtest/gtest.h>

#include "bapi/gp/exact_gp.h"
#include "bapi/gp/response.h"
#include "golden.h"
#include "model.h"

namespace bapi::golden {
namespace {

Rows with_op(Rows rows, Op op) {
  rows.op.assign(rows.op.size(), op);
  return rows;
}

void expect_standardisation(Case& c) {
  const Vector raw = c.inputs()["y_raw"].vector();
  const Standardization scale = standardization(raw);
  c.expect("y_standardised", scale.apply(raw));
  c.expect("y_mean", scale.mean);
  c.expect("y_std_n_minus_1", scale.scale);
}

// The rows at arbitrary tau, and the same rows at whole epochs where the file gives them: the results must not differ.
std::vector<Rows> data_rows(const Value& inputs) {
  std::vector<Rows> rows{Rows::at_taus(inputs["X"].matrix(), inputs["tau"].vector())};
  if (inputs.has("epochs")) {
    rows.push_back(Rows::at_epochs(inputs["X"].matrix(), inputs["epochs"].integers(), inputs["t_max"].integer()));
  }
  return rows;
}

TEST(Golden, GpPosterior) {
  for_each_case("gp_posterior", [](Case& c) {
    expect_standardisation(c);
    const GpParameters parameters{.kernel = kernel_of(c.params()), .noise = c.params()["noise"].number()};
    const Vector y = c.inputs()["y"].vector();
    const double mean = c.params()["mean"].number();
    const Rows queries = Rows::at_taus(c.inputs()["XS"].matrix(), c.inputs()["tauS"].vector());
    for (const Rows& rows : data_rows(c.inputs())) {
      const ExactGp gp(rows, y, parameters);
      c.expect("gls_mean", gp.mean_coefficient());
      c.expect("chol_L", Matrix(gp.factor().lower()));
      ExactGp fixed(rows, y, parameters, {.coefficient = mean});
      c.expect("alpha", fixed.alpha());
      const JointMoments values = fixed.predict_joint(queries);
      c.expect("mean", values.mean);
      c.expect("cov", values.covariance);
      const JointMoments slopes = fixed.predict_joint(with_op(queries, Op::slope));
      c.expect("deriv_mean", slopes.mean);
      c.expect("deriv_cov", slopes.covariance);
      const MomentGradients gradients = fixed.predict_with_gradients(queries);
      c.expect("dmean_dx", Matrix(gradients.mean.transpose()));
      c.expect("dvar_dx", Matrix(gradients.variance.transpose()));
      fixed.pop(1);
      const Moments without_last = fixed.predict(queries);
      c.expect("mean_without_last_row", without_last.mean);
      c.expect("var_without_last_row", without_last.variance);
      fixed.append(rows.select({rows.size() - 1}), y.tail(1));
      c.expect("mean", fixed.predict(queries).mean);
    }
  });
}

}  // namespace
}  // namespace bapi::golden
