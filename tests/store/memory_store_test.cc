#include "bapi/store/memory_store.h"

#include <gtest/gtest.h>

#include <array>

namespace bapi {
namespace {

// The laws of every store are in tests/conformance/store_contract.h.

TEST(MemoryStore, ACopyGoesItsOwnWay) {
  MemoryStore store({.name = "simulated"});
  const std::array<Event, 1> fact{SegmentDone{.trial = TrialId{0}}};
  store.append(0, fact, 1.0, Durability::process);
  MemoryStore copy = store;
  copy.append(1, fact, 2.0, Durability::process);
  EXPECT_EQ(store.events(0).size(), 1u);
  EXPECT_EQ(copy.events(0).size(), 2u);
  EXPECT_EQ(copy.spec(), store.spec());
}

}  // namespace
}  // namespace bapi
