#include "bapi/base/rng.h"

#include <bit>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// SplitMix64: turns any 64 bits into well-mixed ones.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return h;
}

// Standard normal quantile: Acklam's rational approximation (relative error 1e-9) and one Halley step on the exact cdf.
double normal_quantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01,
                          2.209460984245205e+02,
                          -2.759285104469687e+02,
                          1.383577518672690e+02,
                          -3.066479806614716e+01,
                          2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01,
                          1.615858368580409e+02,
                          -1.556989798598866e+02,
                          6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03,
                          -3.223964580411365e-01,
                          -2.400758277161838e+00,
                          -2.549732539343734e+00,
                          4.374664141464968e+00,
                          2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  double x = 0.0;
  if (p < kTail || p > 1.0 - kTail) {
    const double q = std::sqrt(-2.0 * std::log(p < kTail ? p : 1.0 - p));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    if (p > 0.5) x = -x;
  } else {
    const double q = p - 0.5;
    const double r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
  }
  const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - p;
  const double u = error * std::sqrt(2.0 * M_PI) * std::exp(x * x / 2.0);
  return x - u / (1.0 + x * u / 2.0);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : key_(mix(seed)) {
  std::uint64_t z = key_;
  for (std::uint64_t& word : state_) word = z = mix(z);
}

Rng Rng::fork(std::string_view label, std::uint64_t index) const { return Rng(key_ ^ mix(hash(label) + mix(index))); }

std::uint64_t Rng::bits() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }

// The half step keeps the argument inside (0, 1).
double Rng::normal() { return normal_quantile(uniform() + 0x1.0p-54); }

int Rng::below(int n) {
  check(n >= 1, "Rng::below: n must be at least 1");
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % range + 1) % range;  // last unbiased value
  std::uint64_t draw = bits();
  while (draw > limit) draw = bits();
  return static_cast<int>(draw % range);
}

}  // namespace bapi
