#include "bapi/study/segment.h"

#include <gtest/gtest.h>

namespace bapi {
namespace segment_test {

constexpr TrialId kTrial{3};

Event measured(Epoch epoch, double value, TrialId trial = kTrial) {
  return Measured{.trial = trial, .measurement = {.epoch = epoch, .value = value, .cost = 2.0}};
}

TEST(Segment, AfterFactsIsWhatTheLogWillHoldOfItsTrial) {
  const Segment segment{.trial = kTrial, .from = 2, .until = 9, .spent = 4.0, .paid = 2, .recent = {0.1, 0.2}};
  const std::vector<Event> facts{measured(3, 0.3),
                                 measured(7, 0.9, TrialId{4}),
                                 Overhead{.trial = kTrial, .kind = OverheadKind::start_up, .cost = 0.5},
                                 measured(4, 0.4)};
  const Segment after = advanced(segment, facts, 3);
  EXPECT_EQ(after.from, 4);
  EXPECT_EQ(after.paid, 4);
  EXPECT_EQ(after.spent, 8.5);
  EXPECT_EQ(after.recent, (std::vector<double>{0.3, 0.4}));
  EXPECT_EQ(after.until, 9);
  EXPECT_EQ(advanced(segment, {}, 3), segment);
}

TEST(Segment, AfterAnUnreportedEpochHasItPaid) {
  const std::vector<Event> facts{Overhead{.trial = kTrial, .kind = OverheadKind::unreported, .epoch = 3, .cost = 1.0}};
  const Segment after = advanced({.trial = kTrial, .from = 2, .paid = 2}, facts, 1);
  EXPECT_EQ(after.from, 2);
  EXPECT_EQ(after.paid, 3);
}

}  // namespace segment_test
}  // namespace bapi
