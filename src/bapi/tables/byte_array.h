#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/base/error.h"

namespace bapi {

// The product, or the largest number there is if it does not fit: what is compared with a size need not be exact there.
inline std::size_t saturated_product(std::initializer_list<std::size_t> factors) {
  if (std::find(factors.begin(), factors.end(), 0U) != factors.end()) return 0;
  std::size_t product = 1;
  for (const std::size_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::numeric_limits<std::size_t>::max();
  }
  return product;
}

// Bytes that a file must have at least so that an array of `count` items of `size` bytes fits at `offset`; saturates.
inline std::size_t bytes_needed(std::size_t offset, std::size_t count, std::size_t size) {
  std::size_t end = 0;
  const std::size_t bytes = saturated_product({count, size});
  return __builtin_add_overflow(offset, bytes, &end) ? std::numeric_limits<std::size_t>::max() : end;
}

// The `count` numbers at `offset`, which must lie within `bytes`: see bytes_needed. Nothing is allocated before that is
// known.
template <typename T>
std::vector<T> array_at(std::string_view bytes, std::size_t offset, std::size_t count) {
  check(bytes_needed(offset, count, sizeof(T)) <= bytes.size(), "array_at: the bytes end before the array");
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data() + offset, count * sizeof(T));
  return values;
}

}  // namespace bapi
