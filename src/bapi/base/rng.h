#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bapi {

// A stream of random numbers that is the same on every machine (xoshiro256++, own distributions).
//
// A fork depends on the key of its parent, the label and the index, never on what the parent has drawn: adding a draw
// in one place does not shift another.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  Rng fork(std::string_view label, std::uint64_t index = 0) const;

  std::uint64_t bits();  // 64 uniform bits
  double uniform();      // [0, 1), 53 bits
  double normal();       // standard normal, by inversion: one draw each
  int below(int n);      // 0 .. n-1 without bias; n >= 1

 private:
  std::uint64_t key_;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace bapi
