#include "golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace bapi::golden {
namespace {

constexpr const char* kOneCase = R"({"name": "x", "cases": [{"id": "a", "inputs": {"v": ["-inf", 2]},
  "expected": {"m": [1.0, 2.0], "group": {"n": 3, "flag": true}}, "tolerance": {"default": {"abs": 1e-3, "rel": 0}}}]})";

TEST(GoldenDirectory, HoldsOnlyFilesOfKnownTopicsWithCases) {
  for (const std::string& fault : directory_faults(directory())) ADD_FAILURE() << fault;
}

TEST(GoldenDirectory, OfTheSourceTreeHoldsEveryTopic) {
  const std::vector<std::string> found = topics_in(std::string(BAPI_SOURCE_DIR) + "/tests/golden");
  for (const std::string& topic : topics()) EXPECT_EQ(std::count(found.begin(), found.end(), topic), 1) << topic;
}

TEST(GoldenDirectory, MissingOrEmptyIsAFault) {
  EXPECT_FALSE(directory_faults(std::string(BAPI_SOURCE_DIR) + "/tests/no_such_directory").empty());
  EXPECT_FALSE(directory_faults(std::string(BAPI_SOURCE_DIR) + "/tests/golden_suite").empty());
}

TEST(GoldenHarness, PassesWhenEveryExpectedValueIsMet) {
  EXPECT_TRUE(failures_of(kOneCase, [](Case& c) {
                EXPECT_EQ(c.inputs()["v"].vector()[0], -std::numeric_limits<double>::infinity());
                c.expect("m", Vector(Vector::Constant(2, 1.0) + Vector::Unit(2, 1) * 1.0005));
                c.expect("group/n", 3);
                c.expect("group/flag", true);
              }).empty());
}

TEST(GoldenHarness, FailsOnAKeyThatNoAssertionLookedAt) {
  const auto failures = failures_of(kOneCase, [](Case& c) {
    c.expect("m", Vector(Eigen::Vector2d(1.0, 2.0)));
    c.expect("group/n", 3);
  });
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures[0].find("group/flag"), std::string::npos);
}

TEST(GoldenHarness, FailsOnWrongValuesNanShapesAndExceptions) {
  const auto failures_with = [](const Vector& m, int n) {
    return failures_of(kOneCase,
                       [&](Case& c) {
                         c.expect("m", m);
                         c.expect("group/n", n);
                         c.expect("group/flag", true);
                       })
        .size();
  };
  EXPECT_EQ(failures_with(Eigen::Vector2d(1.0, 2.0), 3), 0u);
  EXPECT_EQ(failures_with(Eigen::Vector2d(1.01, 2.0), 3), 1u);
  EXPECT_EQ(failures_with(Eigen::Vector2d(1.0, 2.0), 4), 1u);
  EXPECT_EQ(failures_with(Eigen::Vector2d(std::numeric_limits<double>::quiet_NaN(), 2.0), 3), 1u);
  EXPECT_EQ(failures_with(Vector::Ones(3), 3), 1u);
  EXPECT_EQ(failures_of(kOneCase, [](Case& c) { c.inputs()["absent"].number(); }).size(), 1u);
}

TEST(GoldenHarness, FailsOnAFileWithoutCases) {
  EXPECT_EQ(failures_of(R"({"name": "x", "cases": []})", [](Case&) {}).size(), 1u);
  EXPECT_EQ(failures_of(R"({"name": "x"})", [](Case&) {}).size(), 1u);
}

}  // namespace
}  // namespace bapi::golden
