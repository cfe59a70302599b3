#include "bapi/policy/models.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bapi {
namespace {

// Trials at random x in the unit square, each paused after 8 of 16 epochs that cost 1 + x0 + x1.
History paused_trials(int trials) {
  StudySpec spec{.name = "many"};
  spec.budget = {.limit = 1e9, .meter = Meter::reported};
  spec.epochs = {.min = 1, .max = 16};
  spec.space = Space({{.name = "a", .domain = RealRange{}}, {.name = "b", .domain = RealRange{}}});
  History history(spec);
  Rng rng(1);
  for (int i = 0; i < trials; ++i) {
    const TrialId id{i};
    const Config config = spec.space.sample(rng);
    const Vector x = spec.space.encode(config);
    history.apply(TrialStarted{.trial = id, .config = config, .until = 8});
    for (Epoch t = 1; t <= 8; ++t) {
      history.apply(Measured{id, {t, x[0] - (x[1] - 0.5) * (x[1] - 0.5) - 1.0 / t, 1.0 + x.sum()}});
    }
    history.apply(SegmentDone{id});
  }
  return history;
}

TEST(Models, OfThousandsOfTrialsKeepToTheirRowsAndTheBestOfThem) {
  const History history = paused_trials(2000);
  const ModelOptions options{.max_rows = 120, .fit_rows = 40};
  Rng rng(2);
  const Models models = fit_models(history, options, rng);
  EXPECT_EQ(models.gp.rows().size(), 120);
  double best = -1e9;
  for (const Trial& trial : history.trials()) best = std::max(best, trial.curve.best());
  EXPECT_NEAR(models.to_user(history, models.best), best, 1e-9);
}

TEST(Models, KnowCostsFromAPartOfTheTrials) {
  const History history = paused_trials(400);
  const ModelOptions options{.max_rows = 40, .fit_rows = 40, .cost_trials = 50};
  Rng rng(3);
  const Models models = fit_models(history, options, rng);
  for (const Vector& x : {Vector{{0.2, 0.3}}, Vector{{0.9, 0.1}}, Vector{{0.7, 0.8}}}) {
    EXPECT_NEAR(models.cost.between(x, 0, 16), 16.0 * (1.0 + x.sum()), 0.05 * 16.0 * (1.0 + x.sum()));
  }
}

}  // namespace
}  // namespace bapi
