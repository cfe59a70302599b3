#include "bapi/tables/table_budget.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/tables/synthetic.h"

namespace bapi {
namespace {

TEST(TableBudget, CountsFullRunsWithTheTablesMean) {
  const CurveTable table = synthetic_table({.rows = 20, .epochs = 5});
  EXPECT_DOUBLE_EQ(parse_table_budget("3full").on(table), 3.0 * table.mean_full_cost());
  EXPECT_EQ(parse_table_budget("3").on(table), 3.0);
}

TEST(TableBudget, IsWrittenInOneWayOnly) {
  EXPECT_EQ(parse_table_budget("20.0full").text(), "20full");
  EXPECT_EQ(parse_table_budget("0.5full").text(), "0.5full");
  EXPECT_EQ(parse_table_budget("3600").text(), "3600");
  for (const char* text : {"20full", "0.1full", "12.5"}) {
    EXPECT_EQ(parse_table_budget(parse_table_budget(text).text()), parse_table_budget(text));
  }
}

TEST(TableBudget, RefusesWhatIsNotPositive) {
  for (const char* text : {"", "full", "0full", "-1", "inf", "nanfull", "20 full", "fuller"}) {
    EXPECT_THROW(parse_table_budget(text), InvalidInput) << text;
  }
}

}  // namespace
}  // namespace bapi
