#pragma once

#include <cstdint>
#include <string_view>

namespace bapi::fuzz {

// Choices made by the bytes of an input, one after the other; zeros once they are used up.
class Bytes {
 public:
  explicit Bytes(std::string_view input) : rest_(input) {}

  bool empty() const { return rest_.empty(); }

  int below(int limit) {  // 0, ..., limit - 1; limit is from 1 to 256
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte % limit;
  }

  // A number from a short list that holds the delicate ones; as costs, those that a sum of stays finite.
  double number();

 private:
  std::string_view rest_;
};

inline double Bytes::number() {
  constexpr double kNumbers[] = {0.0, 1.0, 0.5, 2.0, 0.1, -1.0, 1e-300, 1e15, 1e16, 1e12, 5e-324, -0.0, 100.0};
  const int choice = below(16);
  if (choice == 13) return __builtin_nan("");
  if (choice == 14) return __builtin_inf();
  if (choice == 15) return -__builtin_inf();
  return kNumbers[choice];
}

}  // namespace bapi::fuzz
