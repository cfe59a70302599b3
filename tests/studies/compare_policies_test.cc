#include "bapi/studies/compare_policies.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

constexpr const char* kTable = "synthetic:power-law,rows=30,epochs=9";

ComparisonInput small_input() {
  ComparisonInput input;
  input.tables = {kTable};
  input.policies = {"random", "hyperband"};
  input.seeds = 2;
  input.budgets = {"3full", "4full"};
  return input;
}

TEST(ComparePolicies, WritesTheTablesThePageAndTheFiguresOfEveryBudget) {
  const test::TempDir temp;
  const ComparisonResult result = compare_policies(comparison_of(small_input()), temp.path(), {});
  EXPECT_EQ(result.finished, 8);
  EXPECT_EQ(result.records.size(), 8u);
  std::vector<std::string> names;
  for (const std::filesystem::path& file : result.files) {
    names.push_back(file.filename().string());
    EXPECT_TRUE(std::filesystem::exists(file));
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"runs.csv",
                                      "ranks.csv",
                                      "curves.csv",
                                      "report.html",
                                      "ranks.svg",
                                      "anytime.svg",
                                      "ranks-2.svg",
                                      "anytime-2.svg"}));
}

TEST(ComparePolicies, FiguresStandAloneAndNameEveryPolicy) {
  const test::TempDir temp;
  compare_policies(comparison_of(small_input()), temp.path(), {});
  for (const char* name : {"ranks.svg", "anytime.svg"}) {
    const std::string svg = contents_of(temp.path() / name);
    EXPECT_TRUE(svg.starts_with("<svg xmlns")) << name;
    EXPECT_EQ(svg.find("var(--"), std::string::npos) << name;
    EXPECT_NE(svg.find("hyperband"), std::string::npos) << name;
  }
}

TEST(ComparePolicies, AnInterruptWritesNothingButKeepsTheRuns) {
  const test::TempDir temp;
  const std::atomic<bool> interrupt = true;
  const ComparisonResult result =
      compare_policies(comparison_of(small_input()), temp.path(), {.interrupt = &interrupt});
  EXPECT_EQ(result.end, ComparisonEnd::interrupted);
  EXPECT_TRUE(result.files.empty());
  EXPECT_FALSE(std::filesystem::exists(temp.path() / "report.html"));
}

TEST(ComparisonInput, TablesOfEqualNamesAreCalledAfterTheirPlaces) {
  const test::TempDir temp;
  const std::string text =
      "# metric: {name: accuracy, goal: maximize}\n# parameters:\n#   lr: {min: 0.0, max: 1.0}\n"
      "lr,epoch,accuracy\n0.5,1,0.2\n0.25,1,0.3\n";
  for (const char* place : {"a", "b"}) {
    std::filesystem::create_directories(temp.path() / place);
    replace_file(temp.path() / place / "t.csv", text);
  }
  ComparisonInput input = small_input();
  input.tables = {(temp.path() / "a/t.csv").string(), (temp.path() / "b/t.csv").string()};
  const Comparison comparison = comparison_of(input);
  EXPECT_EQ(comparison.tables[0].name, input.tables[0]);
  EXPECT_EQ(comparison.tables[1].name, input.tables[1]);
}

TEST(ComparisonInput, DecisionsAreChargedInOneWay) {
  ComparisonInput input = small_input();
  input.charge = ComparisonInput::Charge::measured;
  input.overhead_from = "elsewhere";
  EXPECT_THROW(comparison_of(input), InvalidInput);
}

}  // namespace
}  // namespace bapi
