#include "bapi/tables/csv_table.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(CsvColumn, ReadsOneColumnOfAnyListing) {
  const std::string text = "table,configs\n\"a,b.bin\",3\nc.bin,4\n";
  EXPECT_EQ(csv_column(text, "table", "INDEX.csv"), (std::vector<std::string>{"a,b.bin", "c.bin"}));
  EXPECT_THROW(csv_column(text, "name", "INDEX.csv"), InvalidInput);
  EXPECT_THROW(csv_column("", "table", "INDEX.csv"), InvalidInput);
  EXPECT_THROW(csv_column("a,table\n1\n", "table", "INDEX.csv"), InvalidInput);
}

TEST(CsvColumn, ATableOfCurvesIsNoListing) {
  EXPECT_TRUE(is_csv_table("# metric: {name: accuracy}\n"));
  EXPECT_FALSE(is_csv_table("table,configs\n"));
}

}  // namespace
}  // namespace bapi
