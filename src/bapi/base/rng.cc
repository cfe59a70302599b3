#include "bapi/base/rng.h"

#include <bit>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/normal_guess.h"

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

// The standard normal quantile: a guess and one Halley step on the exact distribution function. The streams of every
// recorded study depend on its last bit, so it stays as it is; bapi/math/normal.h has one that is exact in the tails.
double draw_at(double p) {
  double x = 0.0;
  if (p < kNormalTailStart || p > 1.0 - kNormalTailStart) {
    x = lower_tail_normal_guess(std::sqrt(-2.0 * std::log(p < kNormalTailStart ? p : 1.0 - p)));
    if (p > 0.5) x = -x;
  } else {
    x = middle_normal_guess(p - 0.5);
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
double Rng::normal() { return draw_at(uniform() + 0x1.0p-54); }

int Rng::below(int n) {
  check(n >= 1, "Rng::below: n must be at least 1");
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % range + 1) % range;  // last unbiased value
  std::uint64_t draw = bits();
  while (draw > limit) draw = bits();
  return static_cast<int>(draw % range);
}

}  // namespace bapi
