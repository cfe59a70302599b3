#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace experiments {

// Random numbers from one word of state (SplitMix64), so that a checkpoint holds all of it. Nothing is cached between
// draws: what follows depends on `state` alone.
struct Generator {
  std::uint64_t state = 0;

  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // in [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  int below(int n) { return static_cast<int>(uniform() * n); }

  // Box and Muller; the second of the pair is thrown away.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
};

}  // namespace experiments
