#include "bapi/policy/new_configs.h"

#include <gtest/gtest.h>

#include "tests/policy/line_study.h"

namespace bapi {
namespace new_configs_test {

using namespace test;

TEST(NewConfigurations, OfAPoolAreAllThatWereNotTried) {
  const Fitted f(paused_trials(four_rows(), {0.0, 1.0}));
  Rng rng(2);
  EXPECT_EQ(xs(new_configs(f.evidence, *f.models.surrogate, f.models.best, rng)), (std::vector<double>{0.3, 0.6}));
}

TEST(NewConfigurations, OfASpaceAreSearchedWhereTheModelHopesAndNeverTriedBefore) {
  const Fitted f(paused_trials(line(), {0.0, 0.2, 0.4, 0.6}));
  Rng rng(2);
  const std::vector<Candidate> found = new_configs(f.evidence, *f.models.surrogate, f.models.best, rng);
  ASSERT_FALSE(found.empty());
  EXPECT_GT(xs(found)[0], 0.6) << "values rise with x";
  for (const Candidate& candidate : found) {
    EXPECT_EQ(candidate.x, nearest_valid(f.history.spec().space, candidate.x));
    for (const Trial& trial : f.history.trials()) EXPECT_NE(candidate.config, trial.config);
  }
}

TEST(NewConfigurations, FollowThePausedTrials) {
  const Fitted f(paused_trials(four_rows(), {0.3, 0.6}));
  EXPECT_EQ(xs(paused_and_new(f.evidence, *f.models.surrogate, f.models.best, Rng(2))),
            (std::vector<double>{0.3, 0.6, 0.0, 1.0}));
}

// A model with room for the best three of five trials.
Models model_of_three(const Evidence& evidence) {
  ModelOptions options;
  options.curves.max_rows = 3;
  Rng rng(1);
  return fit_models(evidence, options, rng);
}

TEST(NewConfigurations, FollowOnlyTheTrialsThatTheModelKnows) {
  const History history = paused_trials(four_rows(), {0.1, 0.3, 0.6, 0.2, 0.7});
  const Evidence evidence(history);
  const Models models = model_of_three(evidence);
  EXPECT_EQ(xs(paused_and_new(evidence, *models.surrogate, models.best, Rng(2))),
            (std::vector<double>{0.3, 0.6, 0.7, 0.0, 1.0}));
}

TEST(NewConfigurations, FollowTheWorstTrialsWhenNothingElseIsLeft) {
  History history = paused_trials(four_rows(), {0.0, 0.1, 0.3, 0.6, 1.0});
  for (const int best : {2, 3, 4}) history.apply(TrialStopped{.trial = TrialId{best}});
  const Evidence evidence(history);
  const Models models = model_of_three(evidence);
  EXPECT_EQ(xs(paused_and_new(evidence, *models.surrogate, models.best, Rng(2))), (std::vector<double>{0.0, 0.1}));
}

TEST(NewConfigurations, AreSearchedBesideTheBestTrials) {
  const History history = paused_trials(line(), {0.5, 0.9, 0.1});
  EXPECT_EQ(best_tried(Evidence(history), 2), (Matrix(1, 2) << 0.9, 0.5).finished());
}

}  // namespace new_configs_test
}  // namespace bapi
