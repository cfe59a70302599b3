#include <gtest/gtest.h>

#include <stdexcept>

#include "bapi/math/normal.h"
#include "bapi/math/quasi_random.h"
#include "bapi/math/truncated_normal.h"
#include "golden.h"
#include "tests/support/references.h"

namespace bapi::golden {
namespace {

template <typename Function>
Vector each(const Vector& arguments, const Function& function) {
  return arguments.unaryExpr([&](double z) { return function(z); });
}

void check_tails(Case& c) {
  const Vector x = c.inputs()["x"].vector();
  if (c.expects("log_Phi")) c.expect("log_Phi", each(x, log_normal_cdf));
  if (c.expects("log_Q")) c.expect("log_Q", each(x, log_normal_tail));
}

void check_interval(Case& c) {
  const Vector a = c.inputs()["a"].vector();
  const Vector b = c.inputs()["b"].vector();
  c.expect("log_p", Vector(a.binaryExpr(b, [](double l, double u) { return log_normal_interval(l, u); })));
}

void check_inverse(Case& c) {
  const Vector a = c.inputs()["a"].vector();
  const Vector b = c.inputs()["b"].vector();
  const Vector u = c.inputs()["u"].vector();
  Matrix x(a.size(), u.size());
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    for (Eigen::Index j = 0; j < u.size(); ++j) x(i, j) = truncated_normal_quantile(a[i], b[i], u[j]);
  }
  c.expect("x", x);
}

void check_bivariate(Case& c) {
  const Vector h = c.inputs()["h"].vector();
  const Vector k = c.inputs()["k"].vector();
  const Vector rho = c.inputs()["rho"].vector();
  Vector p(h.size());
  for (Eigen::Index i = 0; i < h.size(); ++i) p[i] = bivariate_normal_tail(h[i], k[i], rho[i]);
  c.expect("p", p);
}

TEST(Golden, Special) {
  for_each_case("special", [](Case& c) {
    if (c.expects("log_Phi") || c.expects("log_Q")) return check_tails(c);
    if (c.expects("log_p")) return check_interval(c);
    if (c.expects("x")) return check_inverse(c);
    if (c.expects("log_h")) return c.expect("log_h", each(c.inputs()["z"].vector(), log_normal_improvement));
    if (c.expects("p")) return check_bivariate(c);
    if (c.expects("u")) {
      return c.expect("u", sobol_points(c.inputs()["points"].integer(), c.inputs()["dims"].integer()));
    }
    throw std::runtime_error("unknown kind of case");
  });
}

}  // namespace
}  // namespace bapi::golden
