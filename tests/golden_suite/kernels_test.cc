#include <gtest/gtest.h>

#include "bapi/gp/log_likelihood.h"
#include "bapi/kernel/product_kernel.h"
#include "golden.h"
#include "model.h"
#include "tests/support/references.h"

namespace bapi::golden {
namespace kernels_test {

Rows with_op(Rows rows, Op op) {
  rows.op.assign(rows.op.size(), op);
  return rows;
}

// dK(a_i, b_j)/dx of a_i, as one |b| x d matrix per row i.
std::vector<Matrix> first_argument_gradients(const Covariance& covariance, const Rows& a, const Rows& b) {
  std::vector<Matrix> gradients;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    const std::vector<Matrix> each =
        covariance.contracted_x_gradients(b, a.select({i}), Matrix::Identity(b.size(), b.size()));
    Matrix gradient(b.size(), a.dim());
    for (Eigen::Index k = 0; k < a.dim(); ++k) gradient.col(k) = each[k].transpose();
    gradients.push_back(gradient);
  }
  return gradients;
}

// dK/dlog parameter of the Gram matrix from the derivatives that the kernels offer; the likelihood only uses their
// contractions, which the file lml checks.
std::vector<Matrix> log_parameter_derivatives(const ProductKernel& kernel, const Rows& a) {
  const Eigen::Index n = a.size();
  const Matrix scaled = kernel.space.scaled(a.x);
  Matrix kx(n, n);
  Matrix g(n, n);
  Vector distances(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    squared_distances(scaled, 0, scaled, j, distances);
    kernel.space.correlations_and_factors(distances, kx.col(j), g.col(j));
  }
  const auto over_time = [&](const auto& f) {
    Matrix m(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) m(i, j) = f(a.tau(i), a.tau(j));
    }
    return m;
  };
  const Matrix kt = over_time([&](double s, double t) { return kernel.time(Op::value, s, Op::value, t); });
  std::vector<Matrix> derivatives{kernel.amplitude * kx.cwiseProduct(kt)};
  for (Eigen::Index k = 0; k < a.dim(); ++k) {
    const Vector column = scaled.col(k);
    const Matrix squares = (column.replicate(1, n) - column.transpose().replicate(n, 1)).cwiseAbs2();
    derivatives.push_back(kernel.amplitude * g.cwiseProduct(squares).cwiseProduct(kt));
  }
  for (int p = 0; p < static_cast<int>(kernel.time.parameters().size()); ++p) {
    const Matrix dt = over_time([&](double s, double t) { return kernel.time.log_derivative(p, s, t); });
    derivatives.push_back(kernel.amplitude * kx.cwiseProduct(dt));
  }
  return derivatives;
}

TEST(Golden, Kernels) {
  for_each_case("kernels", [](Case& c) {
    const ProductKernel kernel = kernel_of(c.params());
    const Covariance covariance(kernel);
    const Rows a = Rows::at_taus(c.inputs()["X1"].matrix(), c.inputs()["t1"].vector());
    const Rows b = Rows::at_taus(c.inputs()["X2"].matrix(), c.inputs()["t2"].vector());
    c.expect("K", covariance.cross(a, b));
    c.expect("dK_dt1", covariance.cross(with_op(a, Op::slope), b));
    c.expect("dK_dt2", covariance.cross(a, with_op(b, Op::slope)));
    c.expect("d2K_dt1dt2", covariance.cross(with_op(a, Op::slope), with_op(b, Op::slope)));
    c.expect("dK_dx1", first_argument_gradients(covariance, a, b));
    std::vector<std::string> names = log_parameter_names({.kernel = kernel, .noise = 1.0});
    names.pop_back();
    c.expect("param_names", names);
    c.expect("dK_dlogparam_X1X1", log_parameter_derivatives(kernel, a));
  });
}

}  // namespace kernels_test
}  // namespace bapi::golden
