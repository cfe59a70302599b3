#include "bapi/policy/candidate_moments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/policy/models.h"

namespace bapi {
namespace {

constexpr Epoch kEpochs = 32;

// Trials side by side whose curves differ by more than a smooth function of x can say: the model calls it noise. All
// are flat after their eighth epoch.
History uneven_trials(int trials, Epoch done) {
  StudySpec spec{.name = "uneven"};
  spec.budget = {.limit = 1e9, .meter = Meter::reported};
  spec.epochs = {.min = 1, .max = kEpochs};
  spec.space = Space({{.name = "a", .domain = RealRange{}}});
  History history(spec);
  for (int i = 0; i < trials; ++i) {
    const TrialId id{i};
    history.apply(TrialStarted{.trial = id, .config = {{(i + 0.5) / trials}}, .until = done});
    for (Epoch t = 1; t <= done; ++t) {
      const double shape = 1.0 - std::exp(-(i % 3 == 0 ? 0.9 : 0.3) * std::min(t, 8));
      history.apply(Measured{id, {t, shape + 0.05 * (i % 5), 1.0}});
    }
    history.apply(SegmentDone{id});
  }
  return history;
}

struct Case {
  History history = uneven_trials(15, 16);
  Models models = [this] {
    Rng rng(1);
    return fit_models(Evidence(history), {}, rng);
  }();
  std::vector<Candidate> candidates = paused_candidates(Evidence(history));

  Moments at(Epoch epoch, double fluctuation) const {
    const Expectations expected = candidate_moments(
        models, *models.surrogate, candidates, std::vector<Epoch>(candidates.size(), epoch), fluctuation);
    return {.mean = expected.mean, .variance = expected.latent_sd.cwiseAbs2()};
  }
};

TEST(CandidateMoments, OfAPausedTrialBeginsWhereItIs) {
  const Case c;
  const Moments now = c.at(16, 0.0);
  for (std::size_t i = 0; i < c.candidates.size(); ++i) {
    const double value = c.history.trial(*c.candidates[i].trial).curve.best();
    EXPECT_NEAR(c.history.in_user_units(c.models.scale.undo(now.mean[static_cast<Eigen::Index>(i)])), value, 1e-6);
  }
}

TEST(CandidateMoments, OfALongFlatCurveIsSurerWhenItsValueIsKnown) {
  const Case c;
  const Moments known = c.at(kEpochs, 0.0);
  const Moments noisy = c.at(kEpochs, c.models.surrogate->noise());
  for (Eigen::Index i = 0; i < known.variance.size(); ++i) EXPECT_LT(known.variance[i], noisy.variance[i]);
}

TEST(CandidateMoments, OfCurvesThatJumpIsThatOfTheModel) {
  const Case c;
  const Moments jumping = c.at(kEpochs, 1.0);
  const Moments model = c.at(kEpochs, c.models.surrogate->noise());
  EXPECT_EQ(jumping.mean, model.mean);
  EXPECT_TRUE(jumping.variance.isApprox(model.variance, 1e-12));
}

TEST(CandidateMoments, OfNewConfigurationsIsTheModels) {
  Case c;
  c.candidates = {new_candidate(c.history, {{0.21}}, 0), new_candidate(c.history, {{0.77}}, 1)};
  const Moments known = c.at(kEpochs, 0.0);
  const Moments plain = c.models.surrogate->predict(Rows::at_epochs(
      stacked(c.candidates), {kEpochs, kEpochs}, kEpochs, {c.candidates[0].group, c.candidates[1].group}));
  EXPECT_EQ(known.mean, plain.mean);
  EXPECT_TRUE(known.variance.isApprox(plain.variance, 1e-12));
}

TEST(CandidateMoments, KeepsTheOrderOfPausedAndNewCandidates) {
  Case c;
  const std::vector<Candidate> paused = c.candidates;
  c.candidates = {paused[3], new_candidate(c.history, {{0.21}}, 0), paused[1]};
  const Moments mixed = c.at(kEpochs, 0.0);
  c.candidates = paused;
  const Moments alone = c.at(kEpochs, 0.0);
  EXPECT_NEAR(mixed.mean[0], alone.mean[3], 1e-12);
  EXPECT_NEAR(mixed.mean[2], alone.mean[1], 1e-12);
}

}  // namespace
}  // namespace bapi
