#include "bapi/math/quasi_random.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/math/normal.h"

namespace bapi {

namespace {

constexpr int kBits = 32;
constexpr double kScale = 0x1p-32;

using Directions = std::array<std::uint32_t, kBits>;

// Primitive polynomial of degree s with inner coefficients a, and the first s odd direction integers.
struct Generator {
  int degree = 0;
  std::uint32_t inner = 0;
  std::vector<std::uint32_t> integers;
};

// Dimensions 2 to 32 as chosen by Joe and Kuo (2008) for good two-dimensional projections.
const std::vector<Generator>& published_generators() {
  static const std::vector<Generator> table = {
      {1, 0, {1}},
      {2, 1, {1, 3}},
      {3, 1, {1, 3, 1}},
      {3, 2, {1, 1, 1}},
      {4, 1, {1, 1, 3, 3}},
      {4, 4, {1, 3, 5, 13}},
      {5, 2, {1, 1, 5, 5, 17}},
      {5, 4, {1, 1, 5, 5, 5}},
      {5, 7, {1, 1, 7, 11, 1}},
      {5, 11, {1, 1, 5, 1, 1}},
      {5, 13, {1, 1, 1, 3, 11}},
      {5, 14, {1, 3, 5, 5, 31}},
      {6, 1, {1, 3, 3, 9, 7, 49}},
      {6, 13, {1, 1, 1, 15, 21, 21}},
      {6, 16, {1, 3, 1, 13, 27, 49}},
      {6, 19, {1, 1, 1, 15, 7, 5}},
      {6, 22, {1, 3, 1, 15, 13, 25}},
      {6, 25, {1, 1, 5, 5, 19, 61}},
      {7, 1, {1, 3, 7, 11, 23, 15, 103}},
      {7, 4, {1, 3, 7, 13, 13, 15, 69}},
      {7, 7, {1, 1, 3, 13, 7, 35, 63}},
      {7, 8, {1, 3, 5, 9, 1, 25, 53}},
      {7, 14, {1, 3, 1, 13, 9, 35, 107}},
      {7, 19, {1, 3, 1, 5, 27, 61, 31}},
      {7, 21, {1, 1, 5, 11, 19, 41, 61}},
      {7, 28, {1, 3, 5, 3, 3, 13, 69}},
      {7, 31, {1, 1, 7, 13, 1, 19, 1}},
      {7, 32, {1, 3, 7, 5, 13, 19, 59}},
      {7, 37, {1, 1, 3, 9, 25, 29, 41}},
      {7, 41, {1, 3, 5, 13, 23, 1, 55}},
      {7, 42, {1, 3, 7, 3, 13, 59, 17}},
  };
  return table;
}

// Whether x generates all non-zero residues modulo the polynomial with the given bits over GF(2).
bool is_primitive(std::uint32_t polynomial, int degree) {
  const std::uint32_t order = (1u << degree) - 1;
  std::uint32_t power = 1;
  for (std::uint32_t i = 1; i <= order; ++i) {
    power <<= 1;
    if (power >> degree != 0) power ^= polynomial;
    if (power == 1) return i == order;
  }
  return false;
}

// Further dimensions: the primitive polynomials in their natural order, with odd integers from a fixed stream.
std::vector<Generator> all_generators() {
  std::vector<Generator> generators = published_generators();
  Rng integers(20080601);
  int degree = generators.back().degree;
  std::uint32_t inner = generators.back().inner;
  while (std::ssize(generators) < kMaxSobolDimensions - 1) {
    if (++inner >= (1u << (degree - 1))) {
      ++degree;
      inner = 0;
    }
    if (!is_primitive((1u << degree) | (inner << 1) | 1u, degree)) continue;
    Generator next{degree, inner, {}};
    for (int k = 0; k < degree; ++k) {
      next.integers.push_back(static_cast<std::uint32_t>(2 * integers.below(1 << k) + 1));
    }
    generators.push_back(next);
  }
  return generators;
}

Directions directions_of(const Generator& generator) {
  Directions v{};
  const auto s = static_cast<std::size_t>(generator.degree);
  for (std::size_t k = 0; k < kBits; ++k) {
    if (k < s) {
      v[k] = generator.integers[k] << (kBits - 1 - k);
      continue;
    }
    v[k] = v[k - s] ^ (v[k - s] >> s);
    for (std::size_t j = 1; j < s; ++j) {
      if ((generator.inner >> (s - 1 - j)) & 1u) v[k] ^= v[k - j];
    }
  }
  return v;
}

const std::vector<Directions>& directions() {
  static const std::vector<Directions> table = [] {
    std::vector<Directions> all;
    Directions first{};
    for (std::size_t k = 0; k < kBits; ++k) first[k] = 1u << (kBits - 1 - k);
    all.push_back(first);
    for (const Generator& generator : all_generators()) all.push_back(directions_of(generator));
    return all;
  }();
  return table;
}

void check_size(int points, int dimensions) {
  require(points >= 0, fmt::format("Sobol sequence: {} points, must not be negative", points));
  require(dimensions >= 0 && dimensions <= kMaxSobolDimensions,
          fmt::format("Sobol sequence: {} dimensions, must be between 0 and {}", dimensions, kMaxSobolDimensions));
}

// Calls visit(point, dimension, bits) for every coordinate.
template <typename Visit>
void for_each_coordinate(int points, int dimensions, const Visit& visit) {
  check_size(points, dimensions);
  for (int d = 0; d < dimensions; ++d) {
    const Directions& v = directions()[static_cast<std::size_t>(d)];
    std::uint32_t bits = 0;
    for (int i = 0; i < points; ++i) {
      visit(i, d, bits);
      bits ^= v[static_cast<std::size_t>(std::countr_one(static_cast<std::uint32_t>(i)))];
    }
  }
}

// Owen's scrambling: every bit is flipped or not depending on the bits above it and on the key alone. The coin of a
// node of this binary tree is a hash of its path (Murmur3's finaliser, which mixes every input bit into the result).
std::uint32_t scramble(std::uint32_t bits, std::uint64_t key) {
  std::uint32_t flips = 0;
  for (int level = 0; level < kBits; ++level) {
    const std::uint64_t path = level == 0 ? 1u : (std::uint64_t{1} << level) | (bits >> (kBits - level));
    std::uint64_t hash = key ^ (path * 0x9e3779b97f4a7c15u);
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 33;
    flips |= static_cast<std::uint32_t>(hash & 1u) << (kBits - 1 - level);
  }
  return bits ^ flips;
}

}  // namespace

Matrix sobol_points(int points, int dimensions) {
  check_size(points, dimensions);
  Matrix u(points, dimensions);
  for_each_coordinate(points, dimensions, [&](int i, int d, std::uint32_t bits) { u(i, d) = bits * kScale; });
  return u;
}

Matrix centred_sobol_points(int points, int dimensions) {
  check_size(points, dimensions);
  const double half_cell = 0.5 / static_cast<double>(std::bit_ceil(static_cast<std::uint32_t>(points)));
  return sobol_points(points, dimensions).array() + half_cell;
}

Matrix scrambled_sobol_points(int points, int dimensions, Rng& rng) {
  check_size(points, dimensions);
  std::vector<std::uint64_t> keys;
  for (int d = 0; d < dimensions; ++d) keys.push_back(rng.bits());
  Matrix u(points, dimensions);
  for_each_coordinate(points, dimensions, [&](int i, int d, std::uint32_t bits) {
    u(i, d) = (scramble(bits, keys[static_cast<std::size_t>(d)]) + 0.5) * kScale;
  });
  return u;
}

Matrix normal_base_samples(int points, int dimensions, Rng& rng) {
  return scrambled_sobol_points(points, dimensions, rng).unaryExpr([](double u) { return normal_quantile(u); });
}

}  // namespace bapi
