#include "tests/support/random_studies.h"

namespace bapi {
namespace {

TEST(RandomStudies, StayWithinTheirBudgetAndEnd) { test::expect_lawful_studies(0, 150); }

}  // namespace
}  // namespace bapi
