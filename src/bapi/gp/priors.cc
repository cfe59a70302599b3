#include "bapi/gp/priors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// Gamma(shape, rate) for shape >= 1, as the scaled cube of a normal (Marsaglia and Tsang).
double draw_gamma(double shape, double rate, Rng& rng) {
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double z = rng.normal();
    const double cube = std::pow(1.0 + c * z, 3.0);
    if (cube <= 0.0) continue;
    if (std::log(1.0 - rng.uniform()) < 0.5 * z * z + d - d * cube + d * std::log(cube)) return d * cube / rate;
  }
}

}  // namespace

Prior Prior::log_normal(double median, double log_sd, double low, double high) {
  return {.shape = Shape::log_normal, .a = median, .b = log_sd, .low = low, .high = high};
}

Prior Prior::gamma(double shape, double rate, double low, double high) {
  return {.shape = Shape::gamma, .a = shape, .b = rate, .low = low, .high = high};
}

Prior Prior::flat(double low, double high) {
  return {.shape = Shape::flat, .a = 0.0, .b = 0.0, .low = low, .high = high};
}

double Prior::log_density(double log_value) const {
  if (shape == Shape::flat) return 0.0;
  if (shape == Shape::gamma) return (a - 1.0) * log_value - b * std::exp(log_value);
  const double z = (log_value - std::log(a)) / b;
  return -0.5 * z * z;
}

double Prior::derivative(double log_value) const {
  if (shape == Shape::flat) return 0.0;
  if (shape == Shape::gamma) return (a - 1.0) - b * std::exp(log_value);
  return -(log_value - std::log(a)) / (b * b);
}

double Prior::log_mode() const {
  double mode = 0.5 * (std::log(low) + std::log(high));
  if (shape == Shape::log_normal) mode = std::log(a);
  if (shape == Shape::gamma) mode = std::log((a - 1.0) / b);
  return std::clamp(mode, std::log(low), std::log(high));
}

double Prior::draw_log(Rng& rng) const {
  const double bottom = std::log(low);
  const double top = std::log(high);
  double value = bottom + (top - bottom) * rng.uniform();
  if (shape == Shape::log_normal) value = std::log(a) + b * rng.normal();
  if (shape == Shape::gamma) value = std::log(draw_gamma(a, b, rng));
  return std::clamp(value, bottom, top);
}

void Prior::validate(const char* name) const {
  require(low > 0.0 && low <= high,
          fmt::format("priors.{}: range [{}, {}] is not positive and ordered", name, low, high));
  require(shape != Shape::log_normal || (a > 0.0 && b > 0.0),
          fmt::format("priors.{}: median = {} and log_sd = {} must be positive", name, a, b));
  require(shape != Shape::gamma || (a > 1.0 && b > 0.0),
          fmt::format("priors.{}: gamma shape = {} must be above 1 and rate = {} positive", name, a, b));
}

HyperPriors HyperPriors::for_curves() {
  return {.amplitude = Prior::log_normal(1.0, 1.0, 0.05, 20.0),
          .lengthscale = Prior::log_normal(0.7, 0.7, 0.1, 5.0),
          .own_amplitude = Prior::log_normal(0.1, 1.0, 1e-3, 5.0),
          .noise = Prior::log_normal(0.01, 1.5, 1e-5, 0.3)};
}

HyperPriors HyperPriors::for_configurations() {
  HyperPriors priors = for_curves();
  priors.amplitude = Prior::gamma(2.0, 1.0, 1e-2, 1e2);
  priors.lengthscale = Prior::gamma(3.0, 6.0, 1e-2, 1e1);
  priors.noise = Prior::gamma(1.1, 0.05, 1e-6, 1e1);
  return priors;
}

HyperPriors HyperPriors::for_log_rates() {
  HyperPriors priors = for_curves();
  priors.amplitude = Prior::log_normal(0.5, 1.0, 1e-3, 20.0);
  priors.noise = Prior::log_normal(1e-3, 1.5, 1e-6, 0.3);
  return priors;
}

void HyperPriors::validate() const {
  amplitude.validate("amplitude");
  lengthscale.validate("lengthscale");
  own_amplitude.validate("own_amplitude");
  noise.validate("noise");
}

JointPrior::JointPrior(const HyperPriors& priors, const GpParameters& structure) {
  priors.validate();
  each_.push_back(priors.amplitude);
  each_.insert(each_.end(), static_cast<std::size_t>(structure.kernel.space.lengthscales.size()), priors.lengthscale);
  const TimeKernel& time = structure.kernel.time;
  for (const TimeParameter& p : time.form().parameters(time)) {
    each_.push_back(Prior::log_normal(p.median, p.log_sd, p.low, p.high));
  }
  if (structure.kernel.own_amplitude > 0.0) each_.push_back(priors.own_amplitude);
  each_.push_back(priors.noise);
}

Box JointPrior::box() const {
  Box box{Vector(size()), Vector(size())};
  for (Eigen::Index i = 0; i < size(); ++i) {
    box.low(i) = std::log(each_[i].low);
    box.high(i) = std::log(each_[i].high);
  }
  return box;
}

double JointPrior::log_density(const Vector& logs) const {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < size(); ++i) sum += each_[i].log_density(logs(i));
  return sum;
}

Vector JointPrior::gradient(const Vector& logs) const {
  Vector gradient(size());
  for (Eigen::Index i = 0; i < size(); ++i) gradient(i) = each_[i].derivative(logs(i));
  return gradient;
}

Vector JointPrior::mode() const {
  Vector mode(size());
  for (Eigen::Index i = 0; i < size(); ++i) mode(i) = each_[i].log_mode();
  return mode;
}

Vector JointPrior::draw(Rng& rng) const {
  Vector logs(size());
  for (Eigen::Index i = 0; i < size(); ++i) logs(i) = each_[i].draw_log(rng);
  return logs;
}

}  // namespace bapi
