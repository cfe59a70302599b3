#include "bapi/store/patient_store.h"

#include <gtest/gtest.h>

#include <array>

#include "bapi/store/memory_store.h"

namespace bapi {
namespace {

// Refuses its first appends.
class FullStore : public MemoryStore {
 public:
  explicit FullStore(int refusals) : MemoryStore({.name = "full"}), refusals_(refusals) {}

  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override {
    if (refusals_-- > 0) throw Shortage("the disk is full");
    return MemoryStore::append(last, facts, at, durability);
  }
  bool append_decision(EventSeq last, const Event& decision, double at) override {
    if (refusals_-- > 0) throw Shortage("the disk is full");
    return MemoryStore::append_decision(last, decision, at);
  }

 private:
  int refusals_;
};

class WaitingForRoom : public testing::Test {
 protected:
  Patience patience(double seconds) {
    return {.seconds = seconds,
            .every = 0.001,
            .remark = [this](const std::string& text) { remarks_.push_back(text); },
            .pause = [this] { steps_ += "pause "; },
            .go_on = [this] { steps_ += "go_on "; },
            .interrupted = [this] { return interrupt_.load(); }};
  }

  const std::array<Event, 1> fact_{SegmentDone{.trial = TrialId{0}}};
  std::vector<std::string> remarks_;
  std::string steps_;
  std::atomic<bool> interrupt_ = false;
};

TEST_F(WaitingForRoom, IsSaidOnceAndTrainingIsPausedMeanwhile) {
  FullStore full(3);
  PatientStore store(full, patience(60.0));
  EXPECT_TRUE(store.append(0, fact_, 1.0, Durability::process));
  EXPECT_EQ(full.events(0).size(), 1u);
  EXPECT_EQ(steps_, "pause go_on ");
  ASSERT_EQ(remarks_.size(), 1u);
  EXPECT_EQ(remarks_.front(), "the disk is full; training is paused, trying again");
}

TEST_F(WaitingForRoom, GoesForDecisionsToo) {
  FullStore full(1);
  PatientStore store(full, patience(60.0));
  EXPECT_TRUE(store.append_decision(0, StudyFinished{.reason = "enough"}, 1.0));
  EXPECT_EQ(full.events(0).size(), 1u);
}

TEST_F(WaitingForRoom, ComesToAnEndWithNothingWritten) {
  FullStore full(1'000'000);
  PatientStore store(full, patience(0.02));
  try {
    store.append(0, fact_, 1.0, Durability::process);
    FAIL() << "a full disk was written to";
  } catch (const Shortage& shortage) {
    EXPECT_NE(std::string(shortage.what()).find("nothing is lost"), std::string::npos) << shortage.what();
  }
  EXPECT_TRUE(full.events(0).empty());
  EXPECT_EQ(steps_, "pause go_on ");
}

TEST_F(WaitingForRoom, EndsAtOnceWhenItIsInterrupted) {
  FullStore full(1'000'000);
  PatientStore store(full, patience(1e9));
  interrupt_ = true;
  EXPECT_THROW(store.append(0, fact_, 1.0, Durability::process), Shortage);
}

TEST_F(WaitingForRoom, IsNoUseWhereSomebodyElseCameFirst) {
  FullStore full(0);
  PatientStore store(full, patience(60.0));
  EXPECT_FALSE(store.append(7, fact_, 1.0, Durability::process));
  EXPECT_TRUE(remarks_.empty());
}

}  // namespace
}  // namespace bapi
