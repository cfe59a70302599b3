#include "bapi/model/prognosis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/base/rng.h"
#include "bapi/math/normal.h"

namespace bapi {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

ResponseScale accuracy_scale() {
  const ScoreBounds share{.low = 0.0, .high = 1.0};
  const Vector values = Vector::LinSpaced(9, 0.1, 0.9);
  const BoundWarp bound = bound_warp(share, values);
  const Vector opened = values.unaryExpr([&](double y) { return bound.apply(y); });
  return standardised_response(values, {}, gap_warp(opened), bound).scale;
}

// Any course at all: what a model says need not be in order.
Prognosis::Course random_course(Rng& rng, double reached) {
  Prognosis::Course course{.epochs = {},
                           .mean = Vector(8),
                           .sd = Vector(8),
                           .reached = reached,
                           .errors = {.shift = 0.5 * rng.normal(), .scale = 0.7, .tail = 1.2 * rng.uniform()}};
  for (int i = 0; i < 8; ++i) {
    course.epochs.push_back(10 + 3 * i);
    course.mean[i] = 2.0 * rng.normal();
    course.sd[i] = 2.0 * rng.uniform();
  }
  return course;
}

TEST(Prognosis, NeverFallsBelowWhatWasReachedNorWithMoreEpochsNorOutOfBounds) {
  Rng rng(4);
  const ResponseScale scale = accuracy_scale();
  for (int round = 0; round < 50; ++round) {
    const double reached = round % 5 == 0 ? kNothing : rng.normal();
    const Prognosis law(random_course(rng, reached), scale, Worth::best_epoch);
    const double floor = std::isfinite(reached) ? scale.undo(reached) : 0.0;
    for (Eigen::Index i = 0; i < law.size(); ++i) {
      for (const double share : {0.001, 0.1, 0.5, 0.9, 0.999}) {
        EXPECT_GE(law.quantile(i, share), floor - 1e-12);
        EXPECT_LE(law.quantile(i, share), 1.0);
        EXPECT_GE(law.quantile(i, share), 0.0);
        if (i > 0) {
          EXPECT_GE(law.quantile(i, share), law.quantile(i - 1, share) - 1e-12);
        }
      }
      EXPECT_GE(law.quantile(i, 0.9), law.quantile(i, 0.1));
      EXPECT_GE(law.mean(i), floor - 1e-12);
      if (i > 0) {
        EXPECT_GE(law.mean(i), law.mean(i - 1) - 1e-12);
      }
    }
  }
}

TEST(Prognosis, OfTheLastEpochIsTheModelsOwn) {
  Rng rng(5);
  const ResponseScale scale = accuracy_scale();
  const Prognosis::Course course = random_course(rng, kNothing);
  const Prognosis law(course, scale, Worth::best_epoch);
  for (const double z : {-2.0, -0.5, 0.0, 1.0, 2.5}) {
    EXPECT_NEAR(law.value(law.last(), z), scale.undo(course.mean[7] + course.errors.error(z) * course.sd[7]), 1e-12);
  }
}

TEST(Prognosis, WholeCoursesAreThoseOfSingleEpochs) {
  Rng rng(6);
  const Prognosis law(random_course(rng, -0.3), accuracy_scale(), Worth::best_epoch);
  const Vector upper = law.quantile_course(0.8);
  const Vector mean = law.mean_course();
  for (Eigen::Index i = 0; i < law.size(); ++i) {
    EXPECT_NEAR(upper[i], law.quantile(i, 0.8), 1e-12);
    EXPECT_NEAR(mean[i], law.mean(i), 1e-12);
  }
}

TEST(Prognosis, ChancesAreSharesOfItsCourses) {
  Rng rng(7);
  for (int round = 0; round < 20; ++round) {
    const double reached = 0.5 * rng.normal();
    const ResponseScale scale = accuracy_scale();
    const Prognosis law(random_course(rng, reached), scale, Worth::best_epoch);
    const double score = scale.undo(reached + std::abs(rng.normal()));
    constexpr int kCourses = 4000;
    int above = 0;
    int stayed = 0;
    double gain = 0.0;
    for (int k = 0; k < kCourses; ++k) {
      const double value = law.value(2, normal_quantile((k + 0.5) / kCourses));
      above += value > score ? 1 : 0;
      stayed += value <= scale.undo(reached) + 1e-12 ? 1 : 0;
      gain += std::max(0.0, value - score) / kCourses;
    }
    EXPECT_NEAR(law.chance_above(2, score), static_cast<double>(above) / kCourses, 1e-3);
    EXPECT_NEAR(law.chance_to_stay(2), static_cast<double>(stayed) / kCourses, 1e-3);
    EXPECT_NEAR(law.expected_gain(2, score), gain, 2e-3);
  }
}

TEST(Prognosis, MayFallWhereTheLastEpochCounts) {
  const Prognosis law({.epochs = {5, 9}, .mean = Vector{{0.5, -0.5}}, .sd = Vector{{0.1, 0.1}}, .reached = 0.6},
                      accuracy_scale(),
                      Worth::last_epoch);
  EXPECT_LT(law.mean(1), law.mean(0));
  EXPECT_EQ(law.chance_to_stay(0), 0.0);
}

}  // namespace
}  // namespace bapi
