#include "bapi/tables/byte_array.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

TEST(ByteArray, SaturatesWhatDoesNotFit) {
  EXPECT_EQ(saturated_product({3, 4, 5}), 60U);
  EXPECT_EQ(saturated_product({}), 1U);
  EXPECT_EQ(saturated_product({std::size_t{1} << 31, std::size_t{1} << 31, 4}), kMost);
  EXPECT_EQ(saturated_product({kMost, kMost, 0}), 0U);
  EXPECT_EQ(bytes_needed(10, 3, 4), 22U);
  EXPECT_EQ(bytes_needed(kMost - 11, 3, 4), kMost);
  EXPECT_EQ(bytes_needed(kMost, 1, 4), kMost);
  EXPECT_EQ(bytes_needed(0, kMost / 2, 4), kMost);
}

TEST(ByteArray, TakesNumbersFromAnyOffset) {
  const std::string bytes("\x00\x01\x00\x02\x00", 5);
  EXPECT_EQ(array_at<std::uint16_t>(bytes, 1, 2), (std::vector<std::uint16_t>{1, 2}));
  EXPECT_TRUE(array_at<double>(bytes, 5, 0).empty());
  EXPECT_THROW(array_at<std::uint16_t>(bytes, 2, 2), LogicError);
}

}  // namespace
}  // namespace bapi
