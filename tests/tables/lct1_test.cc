#include "bapi/tables/lct1.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "bapi/base/error.h"

namespace bapi {
namespace {

class Lct1Test : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(dir_);
    std::ofstream(dir_ / "t.json") << R"({"format": "LCT1", "name": "tiny",
      "hp": [{"name": "lr", "scale": "log", "lower": 0.001, "upper": 1.0}, {"name": "beta", "scale": "log1m",
              "lower": 0.5, "upper": 0.99}],
      "metrics": [{"name": "loss", "maximize": false}], "has_time": true})";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  template <typename T>
  static void put(std::ofstream& file, std::vector<T> values) {
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  }

  // Three rows of two parameters, three epochs; the third row repeats the first.
  void write(const std::string& magic = "LCT1") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::ofstream file(dir_ / "t.bin", std::ios::binary);
    file.write(magic.data(), 4);
    put<std::uint32_t>(file, {1, 3, 2, 1, 3, 1, 1});
    put<double>(file, {0.01, 0.9, 0.1, 0.8, 0.01, 0.9});
    put<double>(file, {7, 7, 7});
    put<std::uint32_t>(file, {3, 2, 3});
    put<float>(file, {0.5F, 0.25F, 0.125F, 0.75F, nan, nan, 1.0F, 1.0F, 1.0F});
    put<float>(file, {2.0F, 5.0F, 6.0F, 1.0F, 1.5F, nan, 1.0F, 2.0F, 3.0F});
  }

  void write_json(const std::string& text) { std::ofstream(dir_ / "t.json") << text; }

  // The message of the refusal; fails on any other exception.
  std::string refusal() const {
    try {
      read_lct1(dir_ / "t.bin");
    } catch (const InvalidInput& e) {
      return e.what();
    }
    return "(accepted)";
  }

  std::filesystem::path dir_;
};

TEST_F(Lct1Test, ReadsCurvesCostsScalesAndDirection) {
  write();
  const CurveTable table = read_lct1(dir_ / "t.bin");
  EXPECT_EQ(table.name, "tiny");
  EXPECT_EQ(table.metric.goal, Goal::minimize);
  EXPECT_EQ(table.cost_unit, "s");
  ASSERT_EQ(table.runs.size(), 2U);  // a configuration has one curve
  EXPECT_EQ(table.runs[0].value, (std::vector<double>{0.5, 0.25, 0.125}));
  EXPECT_EQ(table.runs[0].cost, (std::vector<double>{2.0, 3.0, 1.0}));
  EXPECT_EQ(table.runs[1].value.size(), 2U);
  EXPECT_TRUE(std::isnan(table.runs[1].value[1]));  // a crash
  EXPECT_EQ(std::get<RealRange>(table.space.params()[0].domain).scale, Scale::log);
  EXPECT_EQ(std::get<RealRange>(table.space.params()[1].domain).scale, Scale::log_complement);
  EXPECT_EQ(table.best(), -0.125);
}

TEST_F(Lct1Test, SaysWhatIsWrongWithAFile) {
  EXPECT_NE(refusal().find("cannot be read"), std::string::npos);
  write("LCT2");
  EXPECT_NE(refusal().find("does not begin with LCT1"), std::string::npos);
  write();
  std::filesystem::resize_file(dir_ / "t.bin", 100);
  EXPECT_NE(refusal().find("expected at least"), std::string::npos);
}

TEST_F(Lct1Test, RefusesSizesWhoseProductWrapsAround) {
  // metrics * configs * epochs * sizeof(float) = 2^66 is 0 in 64 bits: all 140 bytes seem enough for it.
  std::ofstream file(dir_ / "t.bin", std::ios::binary);
  file.write("LCT1", 4);
  put<std::uint32_t>(file, {1, 4, 2, 0, 1U << 31, 1U << 31, 0});
  put<double>(file, {1, 2, 3, 4, 5, 6, 7, 8});
  put<std::uint32_t>(file, {3, 3, 3, 3});
  file.close();
  EXPECT_NE(refusal().find("t.bin: "), std::string::npos) << refusal();
}

TEST_F(Lct1Test, RefusesMoreNumbersThanTheFileHas) {
  for (const std::vector<std::uint32_t>& header : {std::vector<std::uint32_t>{1, 2, 2, 0, 999'999'999, 1, 1},
                                                   {1, ~0U, ~0U, ~0U, 999'999'999, ~0U, ~0U},
                                                   {1, 1U << 31, 1U << 31, 0, 1, 1, 0},
                                                   {1, 1, 2, ~0U, 1, 1, 0}}) {
    std::ofstream file(dir_ / "t.bin", std::ios::binary);
    file.write("LCT1", 4);
    put<std::uint32_t>(file, header);
    put<double>(file, {1, 2, 3, 4});
    put<std::uint32_t>(file, {3, 3});
    file.close();
    EXPECT_NE(refusal().find("expected at least"), std::string::npos) << refusal();
  }
}

TEST_F(Lct1Test, SaysWhereItsJsonIsWrong) {
  write();
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {R"({"hp": [1, 2], "metrics": [{"name": "a"}]})", "t.json: hp[0]: found 1, expected an object"},
      {R"({"hp": [{"name": 1}, {"name": "b"}], "metrics": [{"name": "a"}]})", "t.json: hp[0].name: found 1"},
      {R"({"hp": [{"name": "a"}, {"name": "b"}], "metrics": []})", "t.json: metrics: the list is empty"},
      {R"({"hp": [{"name": "a"}, {"name": "b"}], "metrics": {}})", "t.json: metrics: found an object"},
      {R"({"hp": [{"name": "a"}, {"name": "b"}], "metrics": [{"name": "a"}], "name": 1})", "t.json: name: found 1"},
      {R"({"hp": [{"name": "a", "lower": "x"}, {"name": "b"}], "metrics": [{"name": "a"}]})", "t.json: hp[0].lower"},
      {R"({"hp": {"a": 1, "b": 2}, "metrics": [{"name": "a"}]})", "t.json: hp: found an object, expected a list"},
      {R"({"hp": [{"name": "a"}], "metrics": [{"name": "a"}]})", "t.json: hp: 1 parameters"},
      {R"({"name": 1})", "t.json: "},
      {R"([])", "t.json: found a list, expected an object"},
      {"", "t.json: parse error at line 1"},
      {R"({"hp": [)", "t.json: parse error at line 1"}};
  for (const auto& [json, message] : mistakes) {
    write_json(json);
    EXPECT_NE(refusal().find(message), std::string::npos) << json << " -> " << refusal();
  }
}

TEST_F(Lct1Test, RefusesAParameterThatIsNoNumber) {
  std::ofstream file(dir_ / "t.bin", std::ios::binary);
  file.write("LCT1", 4);
  put<std::uint32_t>(file, {1, 1, 2, 0, 1, 1, 0});
  put<double>(file, {0.5, std::numeric_limits<double>::quiet_NaN()});
  put<std::uint32_t>(file, {1});
  put<float>(file, {1.0F});
  file.close();
  EXPECT_NE(refusal().find("row 0 has a parameter of nan"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace bapi
