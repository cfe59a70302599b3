#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"
#include "bapi/store/store.h"
#include "tests/study/random_study.h"

// The laws of every Store. A test file instantiates StoreContract with one StoreKind per implementation.
namespace bapi {

struct StoreKind {
  std::string name;

  // A place for one study. `create` makes the study there; `reopen` gives another view of the same study, as the next
  // process would have it, or nullptr if the store does not outlive its object.
  class Place {
   public:
    virtual ~Place() = default;
    virtual std::unique_ptr<Store> create(const StudySpec& spec) = 0;
    virtual std::unique_ptr<Store> reopen() = 0;
  };
  std::function<std::unique_ptr<Place>()> make_place;
};

inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

class StoreContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  static constexpr double kNow = 1.75e9;

  static Event measured(int trial, Epoch epoch, double value = 0.5) {
    return Measured{.trial = TrialId{trial}, .measurement = {.epoch = epoch, .value = value, .cost = 1.0}};
  }

  static Event started(int trial) {
    return TrialStarted{.trial = TrialId{trial}, .config = {{0.25}}, .until = 3, .why = {.rule = Rule::uniform_draw}};
  }

  static StudySpec small_spec() { return {.name = "small", .seed = 7}; }

  Store& store() {
    if (!store_) store_ = place_->create(small_spec());
    return *store_;
  }

  // What the next process sees; the same store where there is no next process.
  Store& reopened() {
    store();
    if (std::unique_ptr<Store> again = place_->reopen()) store_ = std::move(again);
    return *store_;
  }

  EventSeq last() { return std::ssize(store().events(0)); }

  void append(const std::vector<Event>& facts, Durability durability = Durability::process) {
    EXPECT_TRUE(store().append(last(), facts, kNow, durability));
  }

  void decide(const Event& decision) { EXPECT_TRUE(store().append_decision(last(), decision, kNow)); }

  static std::vector<Event> contents(const Store& store) {
    std::vector<Event> contents;
    for (const StoredEvent& stored : store.events(0)) contents.push_back(stored.event);
    return contents;
  }

  std::unique_ptr<StoreKind::Place> place_ = GetParam().make_place();
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, ANewStudyHasItsSpecificationAndNoEvents) {
  EXPECT_EQ(store().spec(), small_spec());
  EXPECT_TRUE(store().events(0).empty());
}

TEST_P(StoreContract, NumbersCountFromOneWithoutGaps) {
  append({measured(0, 1), measured(0, 2)});
  decide(started(1));
  append({measured(1, 1)}, Durability::power);
  const std::vector<StoredEvent> events = store().events(0);
  ASSERT_EQ(events.size(), 4u);
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].seq, static_cast<EventSeq>(i) + 1);
}

TEST_P(StoreContract, EventsComeBackAsTheyWereWritten) {
  Rng rng(11);
  std::vector<Event> written;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) {
      const Event event = testing_support::any_event(kind, rng);
      written.push_back(event);
      if (is_decision(event)) {
        decide(event);
      } else {
        append({event});
      }
    }
  }
  EXPECT_EQ(contents(store()), written);
  EXPECT_EQ(contents(reopened()), written);
}

TEST_P(StoreContract, EveryBitOfAMeasurementIsKept) {
  std::vector<double> numbers{0.0, -0.0, 1.0, -1.0, 1e15, 9007199254740993.0, 1e300, 5e-324};
  Rng rng(12);
  for (int i = 0; i < 200; ++i) numbers.push_back(testing_support::any_number(rng));
  for (std::size_t i = 0; i < numbers.size(); ++i) append({measured(0, static_cast<Epoch>(i) + 1, numbers[i])});
  const std::vector<StoredEvent> events = reopened().events(0);
  ASSERT_EQ(events.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double back = std::get<Measured>(events[i].event).measurement.value;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(numbers[i])) << numbers[i];
  }
}

TEST_P(StoreContract, AMeasurementThatIsNotANumberIsKept) {
  append({measured(0, 1, std::numeric_limits<double>::quiet_NaN())});
  EXPECT_TRUE(std::isnan(std::get<Measured>(reopened().events(0).at(0).event).measurement.value));
}

TEST_P(StoreContract, EventsCarryTheTimeOfTheirAppend) {
  const std::vector<Event> fact{measured(0, 1)};
  store().append(0, fact, 1234567.0625, Durability::process);
  store().append_decision(1, started(1), 1234568.5);
  EXPECT_EQ(store().events(0).at(0).at, 1234567.0625);
  EXPECT_EQ(store().events(0).at(1).at, 1234568.5);
}

TEST_P(StoreContract, EventsAfterANumberAreTheRest) {
  append({measured(0, 1), measured(0, 2), measured(0, 3)});
  const std::vector<StoredEvent> all = store().events(0);
  for (EventSeq after = 0; after <= 3; ++after) {
    EXPECT_EQ(store().events(after), std::vector<StoredEvent>(all.begin() + after, all.end()));
  }
  EXPECT_TRUE(store().events(99).empty());
}

TEST_P(StoreContract, ALogIsReadInPieces) {
  append({measured(0, 1), measured(0, 2), measured(0, 3)});
  const std::vector<StoredEvent> all = store().events(0);
  EXPECT_EQ(store().read(0, 2).events, std::vector<StoredEvent>(all.begin(), all.begin() + 2));
  EXPECT_EQ(store().read(2, 2).events, std::vector<StoredEvent>(all.begin() + 2, all.end()));
  EXPECT_TRUE(store().read(3, 2).events.empty());
  EXPECT_FALSE(store().read(0, 2).damage);
}

TEST_P(StoreContract, EverythingIsAppendedOnlyAfterTheEventThatTheWriterSawLast) {
  const std::vector<Event> fact{measured(0, 1)};
  EXPECT_FALSE(store().append_decision(1, started(0), kNow));
  EXPECT_FALSE(store().append(1, fact, kNow, Durability::process));
  EXPECT_TRUE(store().append_decision(0, started(0), kNow));
  EXPECT_FALSE(store().append_decision(0, started(0), kNow));
  EXPECT_FALSE(store().append(0, fact, kNow, Durability::power));
  EXPECT_EQ(store().events(0).size(), 1u);
  EXPECT_TRUE(store().append(1, fact, kNow, Durability::process));
  EXPECT_FALSE(store().append_decision(1, Event{StudyFinished{.reason = "spent"}}, kNow));
  EXPECT_TRUE(store().append_decision(2, Event{StudyFinished{.reason = "spent"}}, kNow));
  EXPECT_EQ(store().events(0).size(), 3u);
}

TEST_P(StoreContract, EventsAreCountedAcrossReopening) {
  decide(started(0));
  EXPECT_FALSE(reopened().append_decision(0, started(1), kNow));
  EXPECT_TRUE(store().append_decision(1, started(1), kNow));
}

TEST_P(StoreContract, ASoundLogIsReadWithoutDamage) {
  decide(started(0));
  append({measured(0, 1)});
  const EventLog log = store().read(0);
  EXPECT_FALSE(log.damage);
  EXPECT_EQ(log.events, store().events(0));
}

TEST_P(StoreContract, AnEmptyBatchChangesNothing) {
  append({});
  append({}, Durability::power);
  EXPECT_TRUE(store().events(0).empty());
}

TEST_P(StoreContract, ABatchThatCannotBeWrittenLeavesNothingBehind) {
  append({measured(0, 1)});
  EXPECT_THROW(append({measured(0, 2), started(1)}), LogicError);
  EXPECT_EQ(contents(store()), (std::vector<Event>{measured(0, 1)}));
}

TEST_P(StoreContract, AppendingGoesOnAfterAFailedAppend) {
  EXPECT_THROW(append({measured(0, 1), started(1)}), LogicError);
  EXPECT_THROW(store().append_decision(0, measured(0, 1), kNow), LogicError);
  append({measured(0, 1)});
  decide(started(1));
  EXPECT_EQ(contents(reopened()), (std::vector<Event>{measured(0, 1), started(1)}));
}

TEST_P(StoreContract, ASecondViewSeesWhatTheFirstWroteAndCompetesWithIt) {
  store();
  const std::unique_ptr<Store> second = place_->reopen();
  if (!second) return;  // a store inside one process has no second view
  append({measured(0, 1)});
  EXPECT_EQ(second->events(0).size(), 1u);
  EXPECT_TRUE(store().append_decision(1, started(0), kNow));
  EXPECT_FALSE(second->append_decision(1, started(0), kNow));
  EXPECT_FALSE(second->append(1, std::vector<Event>{measured(0, 2)}, kNow, Durability::process));
  EXPECT_TRUE(second->append_decision(2, started(1), kNow));
  EXPECT_EQ(contents(store()), (std::vector<Event>{measured(0, 1), started(0), started(1)}));
}

TEST_P(StoreContract, AStudyOfManyEventsIsReadWhole) {
  std::vector<Event> batch;
  for (int i = 0; i < 5000; ++i) batch.push_back(measured(i / 50, i % 50 + 1, i * 0.001));
  append(batch);
  append(batch);
  const std::vector<StoredEvent> events = reopened().events(0);
  ASSERT_EQ(events.size(), 10000u);
  EXPECT_EQ(events.back().seq, 10000);
  EXPECT_EQ(events.back().event, batch.back());
  EXPECT_EQ(store().events(9999).size(), 1u);
}

}  // namespace bapi
