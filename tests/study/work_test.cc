#include "bapi/study/work.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "tests/study/random_study.h"

namespace bapi {
namespace work_test {

TEST(Work, SegmentsComeBackUnchanged) {
  Rng rng(21);
  for (int i = 0; i < 200; ++i) {
    Segment segment{.trial = TrialId{rng.below(100)},
                    .from = static_cast<Epoch>(rng.below(9)),
                    .until = 9,
                    .max_epoch = 12,
                    .budget_left = testing_support::any_number(rng),
                    .usual_epoch = testing_support::any_finite(rng),
                    .spent = testing_support::any_finite(rng),
                    .paid = 3,
                    .recent = {testing_support::any_finite(rng), 0.1},
                    .continued = rng.below(2) == 0};
    for (int k = rng.below(4); k > 0; --k) segment.config.values.push_back(testing_support::any_value(rng));
    EXPECT_EQ(decode_segment(encode(segment)), segment);
  }
}

TEST(Work, DeliveriesComeBackUnchanged) {
  Rng rng(22);
  for (int i = 0; i < 200; ++i) {
    Delivery delivery{.number = i,
                      .standings = {{.trial = TrialId{4}, .order = 7, .ended = true}},
                      .tally = {.busy = testing_support::any_finite(rng), .failures = 2},
                      .trains = rng.below(2) == 0};
    for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) {
      const Event event = testing_support::any_event(kind, rng);
      if (!is_decision(event) && trial_of(event)) delivery.facts.push_back(event);
    }
    EXPECT_EQ(decode_delivery(encode(delivery)), delivery);
  }
}

TEST(Work, ADeliveryHoldsNoDecisions) {
  EXPECT_THROW(decode_delivery(encode(Delivery{.number = 1, .facts = {StudyFinished{.reason = "because"}}})),
               InvalidInput);
  EXPECT_THROW(decode_delivery(encode(Delivery{.number = 1, .facts = {BudgetChanged{.total = 1e9}}})), InvalidInput);
}

TEST(Work, ADeliveryHasLimits) {
  const Event fact = SegmentDone{.trial = TrialId{1}};
  EXPECT_NO_THROW(encode(Delivery{.number = 1, .facts = std::vector<Event>(kMostFacts, fact)}));
  EXPECT_THROW(encode(Delivery{.number = 1, .facts = std::vector<Event>(kMostFacts + 1, fact)}), InvalidInput);
  const Event large = TrialFailed{.trial = TrialId{1}, .message = std::string(kLargestDelivery, 'x')};
  EXPECT_THROW(encode(Delivery{.number = 1, .facts = {large}}), InvalidInput);
  EXPECT_THROW(decode_delivery(std::string(kLargestDelivery + 1, ' ')), InvalidInput);
}

TEST(Work, TextsOfAnotherFormAreRefused) {
  for (const char* text : {"", "[]", "{}", "{\"version\": 2}", "{\"version\": 1, \"number\": 1}"}) {
    EXPECT_THROW(decode_segment(text), InvalidInput) << text;
    EXPECT_THROW(decode_delivery(text), InvalidInput) << text;
  }
}

TEST(Work, OnlyThoseWhoArePresentDeliver) {
  EXPECT_TRUE(is_present(WorkerState::live));
  EXPECT_TRUE(is_present(WorkerState::set_aside));
  EXPECT_TRUE(is_present(WorkerState::leaving));
  EXPECT_FALSE(is_present(WorkerState::gone));
  EXPECT_FALSE(is_present(WorkerState::lost));
}

}  // namespace work_test
}  // namespace bapi
