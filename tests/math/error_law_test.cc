#include "bapi/math/error_law.h"

#include <gtest/gtest.h>

#include <limits>

namespace bapi {
namespace {

constexpr double kSmall = 1e-12;

TEST(ErrorLaw, WithoutATailIsNormal) {
  const ErrorLaw law{.shift = 0.5, .scale = 2.0};
  for (const double z : {-4.0, -1.5, 0.0, 1.0, 3.0}) EXPECT_NEAR(law.error(z), 0.5 + 2.0 * z, kSmall);
}

TEST(ErrorLaw, GrowsAndIsUndoneByItsInverse) {
  for (const ErrorLaw& law : {ErrorLaw{}, ErrorLaw{.shift = -0.3, .scale = 0.8, .tail = 1.2}}) {
    double before = -std::numeric_limits<double>::infinity();
    for (double z = -8.0; z <= 8.0; z += 0.01) {
      EXPECT_GT(law.error(z), before);
      before = law.error(z);
      EXPECT_NEAR(law.z(law.error(z)), z, 8.0 * kSmall);
    }
  }
}

TEST(ErrorLaw, IsSymmetricAboutItsMedian) {
  const ErrorLaw law{.shift = 0.4, .scale = 0.7, .tail = 0.9};
  EXPECT_EQ(law.error(0.0), 0.4);
  for (const double z : {0.3, 1.5, 2.5, 6.0}) {
    EXPECT_NEAR(law.error(z) - 0.4, 0.4 - law.error(-z), kSmall * law.error(6.0));
  }
}

TEST(ErrorLaw, HasHeavierTailsUpToTheEndsOfItsCentral95Percent) {
  const ErrorLaw law{.tail = 0.5};
  EXPECT_GT(law.error(1.96) / law.error(1.28), 1.96 / 1.28);
  EXPECT_NEAR(law.error(6.0) / law.error(3.0), 2.0, kSmall);
}

TEST(ErrorLaw, HasNoEnds) {
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  for (const ErrorLaw& law : {ErrorLaw{}, ErrorLaw{.tail = 0.6}}) {
    EXPECT_EQ(law.error(kEnd), kEnd);
    EXPECT_EQ(law.error(-kEnd), -kEnd);
    EXPECT_EQ(law.z(kEnd), kEnd);
    EXPECT_EQ(law.z(-kEnd), -kEnd);
  }
}

}  // namespace
}  // namespace bapi
