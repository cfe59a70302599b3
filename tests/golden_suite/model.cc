#include "model.h"
#include "tests/support/references.h"

#include <stdexcept>

namespace bapi::golden {

namespace {

SpaceKernel space_kernel_of(const Value& kx) {
  const std::string kind = kx["kind"].text();
  SpaceKernel kernel;
  kernel.lengthscales = kx["ell"].vector();
  if (kind == "rbf") {
    kernel.kind = SpaceKind::rbf;
  } else if (kind == "matern52") {
    kernel.kind = SpaceKind::matern52;
  } else {
    throw std::runtime_error("unknown kernel over x: " + kind);
  }
  return kernel;
}

TimeKernel time_kernel_of(const Value& kt) {
  const std::string kind = kt["kind"].text();
  TimeKernel kernel;
  if (kind == "ed") {
    kernel.kind = TimeKind::exponential_decay;
    kernel.w = kt["w"].number();
    kernel.alpha = kt["alpha"].number();
    kernel.beta = kt["beta"].number();
  } else if (kind == "rbf") {
    kernel.kind = TimeKind::rbf;
    kernel.lengthscale = kt["ell"].number();
  } else {
    throw std::runtime_error("unknown kernel over time: " + kind);
  }
  return kernel;
}

}  // namespace

ProductKernel kernel_of(const Value& params) {
  return {.amplitude = params["s2"].number(),
          .space = space_kernel_of(params["kx"]),
          .time = time_kernel_of(params["kt"]),
          .own_amplitude = 0.0};
}

ExactGp model_of(const Case& c) {
  return ExactGp(rows_of(c, "X", "tau"),
                 c.inputs()["y"].vector(),
                 {.kernel = kernel_of(c.params()), .noise = c.params()["noise"].number()},
                 {.shape = MeanShape::constant, .coefficient = c.params()["mean"].number()});
}

Rows rows_of(const Case& c, std::string_view x_key, std::string_view tau_key) {
  return Rows::at_taus(c.inputs()[x_key].matrix(), c.inputs()[tau_key].vector());
}

Vector slope_noise_of(const Case& c, Eigen::Index count) {
  const Value noise = c.params()["sigma_v2"];
  return noise.is_list() ? noise.vector() : Vector(Vector::Constant(count, noise.number()));
}

SlopeConstraint slopes_of(const Case& c) {
  const Vector tau = c.inputs()["tauv"].vector();
  return slope_constraint_at(tau, slope_noise_of(c, tau.size()));
}

}  // namespace bapi::golden
