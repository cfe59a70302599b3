#include "tests/support/random_studies.h"

namespace bapi {
namespace {

TEST(RandomStudies, StayWithinTheirBudgetAndEndTenThousandTimes) { test::expect_lawful_studies(1000, 10'000); }

}  // namespace
}  // namespace bapi
