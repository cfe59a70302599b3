#include "bapi/policy/pending.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/policy/line_study.h"

namespace bapi {
namespace pending_test {

using namespace test;

// So many trainings at even places of the line.
Rows running(int count) {
  std::vector<RunningCurve> curves;
  for (int i = 0; i < count; ++i) {
    const double x = (i + 0.5) / count;
    curves.push_back({.at = {.x = Vector::Constant(1, x), .group = 100 + i, .done = 0}, .until = 3});
  }
  return pending_at_last_epoch(curves, line().epochs.max);
}

TEST(Pending, AllTrainingsCountAsLongAsTheyAreFew) {
  const Fitted f(paused_trials(line(), {0.0, 0.2, 0.4, 0.6}));
  const auto known = f.models.surrogate->rows().size();
  EXPECT_EQ(with_running(f.models, running(0))->rows().size(), known);
  EXPECT_EQ(with_running(f.models, running(kMostPending))->rows().size(), known + kMostPending);
}

TEST(Pending, OfAThousandThoseCountThatMayBecomeTheBest) {
  const Fitted f(paused_trials(line(), {0.0, 0.2, 0.4, 0.6}));
  const auto known = f.models.surrogate->rows().size();
  const Rows all = running(1000);
  const std::unique_ptr<CurveSurrogate> with = with_running(f.models, all);
  ASSERT_EQ(with->rows().size(), known + kMostPending);
  const auto kept = with->rows().x.bottomRows(kMostPending).col(0);
  EXPECT_GT(kept.minCoeff(), 0.5) << "values rise with x";
  EXPECT_LE((with->predict(all).mean - f.models.surrogate->predict(all).mean).norm(), 1e-6)
      << "what is expected to be seen changes no expectation";
}

}  // namespace pending_test
}  // namespace bapi
