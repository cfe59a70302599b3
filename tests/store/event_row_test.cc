#include "bapi/store/event_row.h"

#include <gtest/gtest.h>

#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"
#include "tests/study/random_study.h"

namespace bapi {
namespace {

TEST(EventRow, GivesBackEveryEvent) {
  Rng rng(5);
  for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) {
    const Event event = testing_support::any_event(kind, rng);
    EXPECT_EQ(event_of(row_of(event)), event);
  }
}

TEST(EventRow, AMeasurementNeedsNoPayloadUnlessAColumnWouldLoseABit) {
  const auto payload_of = [](double value) {
    return row_of(Measured{.trial = TrialId{3}, .measurement = {.epoch = 2, .value = value, .cost = 1.0}}).payload;
  };
  EXPECT_FALSE(payload_of(0.5));
  EXPECT_TRUE(payload_of(-0.0));
  EXPECT_TRUE(payload_of(std::numeric_limits<double>::quiet_NaN()));
}

TEST(EventRow, RefusesARowThatSaysTooLittle) {
  EXPECT_THROW(event_of({.kind = "started", .trial = 1}), InvalidInput);
  EXPECT_THROW(event_of({.kind = "measured", .trial = 1, .epoch = 0, .value = 0.5, .cost = 1.0}), InvalidInput);
}

}  // namespace
}  // namespace bapi
