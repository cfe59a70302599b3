#include "bapi/policy/candidates.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/policy/line_study.h"

namespace bapi {
namespace candidates_test {

using namespace test;

TEST(Candidates, ArePausedTrialsThatCanBeResumed) {
  History history = paused_trials(line(), {0.1, 0.2, 0.3});
  history.apply(TrialStopped{.trial = TrialId{1}});
  history.apply(TrialResumed{.trial = TrialId{2}, .until = 9});  // it runs
  const std::vector<Candidate> candidates = paused_candidates(Evidence(history));
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].trial, TrialId{0});
  EXPECT_EQ(candidates[0].done, 3);
  EXPECT_EQ(xs(candidates), std::vector<double>{0.1});
}

TEST(Candidates, OfAPoolAreItsUntriedRowsEachACurveOfItsOwn) {
  const History history = paused_trials(four_rows(), {0.3});
  const std::vector<Candidate> candidates = untried_rows(history);
  EXPECT_EQ(xs(candidates), (std::vector<double>{0.0, 0.6, 1.0}));
  std::set<CurveId> groups;
  for (const Candidate& candidate : candidates) {
    EXPECT_FALSE(candidate.trial);
    EXPECT_EQ(candidate.done, 0);
    groups.insert(candidate.group);
  }
  EXPECT_EQ(groups.size(), candidates.size());
  EXPECT_GE(*groups.begin(), std::ssize(history.trials())) << "the number of a trial";
}

TEST(Candidates, AreListedForAPoolAndForASmallFiniteSpaceAlone) {
  EXPECT_TRUE(can_be_listed(four_rows()));
  EXPECT_FALSE(can_be_listed(line()));
  StudySpec finite = line();
  finite.space = Space({{.name = "n", .domain = IntRange{.low = 1, .high = 3}}});
  EXPECT_TRUE(can_be_listed(finite));
  EXPECT_EQ(untried_list(History(finite)).value().size(), 3u);
  EXPECT_FALSE(untried_list(History(line())));
}

TEST(Candidates, BecomeResumeOrStart) {
  const History history = paused_trials(four_rows(), {0.3});
  const Decision resume = train(paused_candidates(Evidence(history)).at(0), 9, 12.0, {});
  EXPECT_EQ(std::get<Resume>(resume).trial, TrialId{0});
  EXPECT_EQ(std::get<Resume>(resume).until, 9);
  EXPECT_EQ(std::get<Resume>(resume).expected_cost, 12.0);
  const Decision start = train(untried_rows(history).at(1), 3, 6.0, {});
  EXPECT_EQ(std::get<Start>(start).config, (Config{{0.6}}));
  EXPECT_EQ(std::get<Start>(start).until, 3);
}

}  // namespace candidates_test
}  // namespace bapi
