#include <gtest/gtest.h>

#include <algorithm>

#include "bapi/study/replay.h"
#include "tests/crash/controlled_study.h"

namespace bapi {
namespace {

// One worker, counted epochs, a program that ends where it is told: nothing depends on time.
StudySpec deterministic_spec(const std::string& policy) {
  StudySpec spec = trainer_spec({"--exit-at-until", "--sleep", "0.006"}, 9);
  spec.policy.name = policy;
  spec.budget.limit = 12.0;
  spec.seed = 11;
  return spec;
}

// Everything that was decided and found out, in order.
std::vector<Event> story(const ControlledStudy& study) {
  std::vector<Event> events;
  for (const StoredEvent& stored : study.log()) {
    if (!std::holds_alternative<Interrupted>(stored.event)) events.push_back(stored.event);
  }
  return events;
}

std::vector<std::string> texts(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& event : events) lines.push_back(encode(event));
  return lines;
}

int decisions(const std::vector<Event>& events) {
  return static_cast<int>(std::count_if(events.begin(), events.end(), is_decision));
}

struct Place {
  std::string policy;
  std::string side;
};

class EventBoundary : public testing::TestWithParam<Place> {};

TEST_P(EventBoundary, AControllerKilledThereAndStartedAgainTellsTheSameStory) {
  const StudySpec spec = deterministic_spec(GetParam().policy);
  const ControlledStudy undisturbed(spec);
  ASSERT_TRUE(undisturbed.run());
  const std::vector<Event> expected = story(undisturbed);
  ASSERT_EQ(undisturbed.history().budget().spent(), spec.budget.limit);
  for (int write = 1;; ++write) {
    const ControlledStudy study(spec);
    if (study.run({GetParam().side, std::to_string(write)})) {
      EXPECT_GT(write, decisions(expected));  // every decision is a write of its own
      break;
    }
    ASSERT_TRUE(study.run());
    ASSERT_EQ(texts(story(study)), texts(expected)) << "write " << write;
  }
}

INSTANTIATE_TEST_SUITE_P(Places,
                         EventBoundary,
                         testing::Values(Place{"random", "--kill-before"},
                                         Place{"random", "--kill-after"},
                                         Place{"hyperband", "--kill-before"},
                                         Place{"hyperband", "--kill-after"}),
                         [](const auto& place) {
                           return place.param.policy + (place.param.side == "--kill-before" ? "_before" : "_after");
                         });

class ModelPolicy : public testing::TestWithParam<std::string> {};

// What two workers report first is chance, so the stories differ; each can be read and continued after every death.
TEST_P(ModelPolicy, OfTwoWorkersLeavesASoundLogHoweverOftenItsControllerDies) {
  StudySpec spec = deterministic_spec(GetParam());
  spec.workers = 2;
  spec.budget.limit = 30.0;
  const ControlledStudy study(spec);
  int lives = 1;
  while (!study.run({lives % 2 == 0 ? "--kill-after" : "--kill-before", std::to_string(3 + lives % 7)})) {
    ASSERT_LT(++lives, 100);
    if (!study.exists()) continue;
    const SqliteStore store = SqliteStore::open(study.dir().database(), Access::read_only);
    const Replay log = replay(store.spec(), store.read(0));
    ASSERT_FALSE(log.damage) << log.damage->text();
  }
  EXPECT_TRUE(study.history().finished());
  EXPECT_GT(lives, 3);
}

INSTANTIATE_TEST_SUITE_P(Policies, ModelPolicy, testing::Values("bapi", "bapi-4"), [](const auto& policy) {
  return policy.param == "bapi" ? "bapi" : "bapi_4";
});

class ShortLives : public testing::TestWithParam<std::string> {};

TEST_P(ShortLives, AControllerThatDiesAfterEveryFewWritesStillTellsTheSameStory) {
  const ControlledStudy undisturbed(deterministic_spec(GetParam()));
  ASSERT_TRUE(undisturbed.run());
  for (const int writes : {1, 2, 3}) {
    const ControlledStudy study(deterministic_spec(GetParam()));
    int lives = 1;
    while (!study.run({"--kill-after", std::to_string(writes)})) ASSERT_LT(++lives, 400);
    EXPECT_GT(lives * writes, decisions(story(study)));
    EXPECT_EQ(texts(story(study)), texts(story(undisturbed))) << writes;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, ShortLives, testing::Values("random", "hyperband"));

}  // namespace
}  // namespace bapi
