#include "bapi/base/rare.h"

#include <gtest/gtest.h>

#include <string>

namespace bapi {
namespace {

struct Pair {
  int first = 0;
  std::string second = {};
  bool operator==(const Pair&) const = default;
};

TEST(Rare, BehavesAsAnOptional) {
  Rare<Pair> rare;
  EXPECT_FALSE(rare);
  EXPECT_EQ(rare, Rare<Pair>{});
  rare = {.first = 1, .second = "one"};
  ASSERT_TRUE(rare.has_value());
  EXPECT_EQ(rare->second, "one");
  EXPECT_EQ(rare, Rare<Pair>(Pair{1, "one"}));
  EXPECT_NE(rare, Rare<Pair>{});
  rare.reset();
  EXPECT_FALSE(rare);
  rare = std::optional<Pair>(Pair{2, "two"});
  EXPECT_EQ((*rare).first, 2);
  rare = std::optional<Pair>();
  EXPECT_FALSE(rare);
}

TEST(Rare, CopiesAreDeep) {
  Rare<Pair> a = Pair{1, "one"};
  Rare<Pair> b = a;
  b->first = 2;
  EXPECT_EQ(a->first, 1);
  a = b;
  EXPECT_EQ(a->first, 2);
  b = std::move(a);
  EXPECT_EQ(b->second, "one");
}

TEST(Rare, TakesTheRoomOfAPointer) { EXPECT_EQ(sizeof(Rare<Pair>), sizeof(void*)); }

}  // namespace
}  // namespace bapi
