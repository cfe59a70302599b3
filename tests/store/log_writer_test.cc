#include "bapi/store/log_writer.h"

#include <gtest/gtest.h>

#include "bapi/store/memory_store.h"

namespace bapi {
namespace log_writer_test {

StudySpec spec() {
  StudySpec spec;
  spec.name = "test";
  spec.budget = {.limit = 10.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 3};
  return spec;
}

const Event kStart = TrialStarted{.trial = TrialId{0}, .config = {{0.5}}, .until = 3};
Measured report(Epoch epoch) { return {.trial = TrialId{0}, .measurement = {.epoch = epoch, .value = 0.5, .cost = 1}}; }

class LogWriterTest : public testing::Test {
 protected:
  EventSeq written() const { return std::ssize(store_.events(0)); }

  MemoryStore store_{spec()};
  LogWriter writer_{store_, History(spec()), 0};
};

TEST_F(LogWriterTest, WhatCanFollowIsInTheLogAndInTheHistoryAndShownInThatOrder) {
  std::vector<std::pair<EventSeq, double>> shown;
  writer_.listen([&](const StoredEvent& stored) {
    EXPECT_EQ(written(), stored.seq == 1 ? 1 : 3);  // a batch is written whole
    shown.emplace_back(stored.seq, writer_.history().budget().spent());
  });
  writer_.decide(kStart, 1.0, "nobody");
  writer_.record(std::vector<Event>{report(1), report(2)}, 2.0);
  EXPECT_EQ(shown, (std::vector<std::pair<EventSeq, double>>{{1, 0.0}, {2, 1.0}, {3, 2.0}}));
  EXPECT_EQ(writer_.last(), 3);
}

TEST_F(LogWriterTest, WhatCannotFollowIsNotWrittenWhoeverWantsTo) {
  writer_.decide(kStart, 1.0, "nobody");
  EXPECT_THROW(writer_.decide(kStart, 2.0, "nobody"), LogicError);
  EXPECT_THROW(writer_.record(std::vector<Event>{report(1), report(3), report(2)}, 2.0), LogicError);
  EXPECT_THROW(writer_.record_for_good(std::vector<Event>{BudgetChanged{.total = -1.0}}, 2.0), LogicError);
  EXPECT_EQ(written(), 1);
  EXPECT_EQ(writer_.history().budget().spent(), 0.0);
}

TEST_F(LogWriterTest, ARivalEndsTheWriting) {
  LogWriter rival(store_, History(spec()), 0);
  rival.decide(kStart, 1.0, "a rival");
  EXPECT_THROW(writer_.decide(kStart, 1.0, "nobody"), StoreError);
  EXPECT_THROW(writer_.record_for_good(std::vector<Event>{BudgetChanged{.total = 5.0}}, 1.0), StoreError);
  EXPECT_EQ(written(), 1);
}

TEST_F(LogWriterTest, NoFactsAreNoWrite) {
  writer_.record({}, 1.0);
  EXPECT_EQ(written(), 0);
}

}  // namespace log_writer_test
}  // namespace bapi
