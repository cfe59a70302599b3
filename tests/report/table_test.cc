#include "bapi/report/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "bapi/base/error.h"

namespace bapi {
namespace {

Table two_rows() {
  Table table({"trial", "state", "best", "config"});
  table.add({0, "paused", 0.5, Fields{{"lr", 0.1}, {"optimizer", "adam"}}});
  table.add({10, "ok", {}, Fields{{"lr", 0.01}, {"momentum", 0.9}, {"optimizer", "sgd"}}});
  return table;
}

TEST(Table, TextAlignsNumbersToTheRightAndWordsToTheLeft) {
  EXPECT_EQ(render(two_rows(), Format::table),
            "trial  state   best  config\n"
            "    0  paused   0.5  lr=0.1 optimizer=adam\n"
            "   10  ok            lr=0.01 momentum=0.9 optimizer=sgd\n");
}

TEST(Table, TextKeepsEveryRowOnItsLine) {
  Table table({"config"});
  table.add({Fields{{"layers", "two\nlines"}, {"name", "\x1b[2J"}}});
  EXPECT_EQ(render(table, Format::table), "config\nlayers=two\\nlines name=\\x1b[2J\n");
}

TEST(Table, CsvSpreadsFieldsOverColumnsAndLeavesMissingOnesEmpty) {
  EXPECT_EQ(render(two_rows(), Format::csv),
            "trial,state,best,config.lr,config.momentum,config.optimizer\n"
            "0,paused,0.5,0.1,,adam\n"
            "10,ok,,0.01,0.9,sgd\n");
}

TEST(Table, CsvQuotesSeparatorsQuotesAndNewlines) {
  Table table({"a", "b,c"});
  table.add({"x\"y", "two\nlines"});
  EXPECT_EQ(render(table, Format::csv), "a,\"b,c\"\n\"x\"\"y\",\"two\nlines\"\n");
}

TEST(Table, CsvShowsARecordThatIsSometimesAbsentByItsPartsAlone) {
  Table table({"best", "x"});
  table.add({{}, 1});
  table.add({Fields{{"trial", 3}, {"deep", Fields{{"a", 1}}}}, 2});
  table.add({Fields{{"deep", Fields{{"a", 2}}}, {"trial", 4}}, 3});
  EXPECT_EQ(render(table, Format::csv), "best.trial,best.deep.a,x\n,,1\n3,1,2\n4,2,3\n");
}

// Measuring every row against every other one would take hours.
TEST(Table, OfManyRowsIsWrittenInTimeThatGrowsWithThem) {
  Table table({"trial", "cost", "config"});
  for (int i = 0; i < 100000; ++i) table.add({i, 0.5 * i, Fields{{"lr", 0.1}}});
  for (const Format format : {Format::table, Format::csv, Format::json}) {
    const std::string text = render(table, format);
    EXPECT_GT(text.size(), 1000000U);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 100002);
  }
}

TEST(Table, OfManyColumnsIsWrittenInTimeThatGrowsWithThem) {
  Fields config;
  for (int i = 0; i < 20000; ++i) config.emplace_back("p" + std::to_string(i), i);
  Table table({"config"});
  for (int i = 0; i < 3; ++i) table.add({config});
  const std::string text = render(table, Format::csv);
  EXPECT_EQ(std::count(text.begin(), text.end(), ','), 4 * 19999);
}

TEST(Table, JsonKeepsTypesAndOrder) {
  const auto parsed = nlohmann::ordered_json::parse(render(two_rows(), Format::json));
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0].begin().key(), "trial");
  EXPECT_EQ(parsed[1]["trial"], 10);
  EXPECT_TRUE(parsed[1]["best"].is_null());
  EXPECT_EQ(parsed[1]["config"]["momentum"], 0.9);
}

TEST(Table, WithoutRowsHasItsHeader) {
  const Table empty({"a", "b"});
  EXPECT_EQ(render(empty, Format::table), "a  b\n");
  EXPECT_EQ(render(empty, Format::csv), "a,b\n");
  EXPECT_EQ(render(empty, Format::json), "[]\n");
}

TEST(Table, RefusesARowOfAnotherLength) {
  Table table({"a", "b"});
  EXPECT_THROW(table.add({1}), LogicError);
}

TEST(Record, IsLinesForPeopleAndOneObjectForScripts) {
  const Fields record = {{"name", "mlp"}, {"budget", Fields{{"total", 30.0}, {"unit", "s"}}}, {"best", {}}};
  EXPECT_EQ(render(record, Format::table), "name    mlp\nbudget  total=30 unit=s\nbest\n");
  EXPECT_EQ(render(record, Format::json),
            "{\"name\": \"mlp\", \"budget\": {\"total\": 30, \"unit\": \"s\"}, \"best\": null}\n");
  EXPECT_EQ(render(record, Format::csv), "name,budget.total,budget.unit,best\nmlp,30,s,\n");
}

TEST(Json, NumbersReadBackTheSame) {
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 123456789.123456789, -0.0, 5e-324}) {
    EXPECT_EQ(nlohmann::json::parse(to_json(value)).get<double>(), value);
  }
  EXPECT_EQ(to_json(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(to_json(std::numeric_limits<double>::infinity()), "null");
}

TEST(Json, StringsReadBackTheSameAndStrayBytesAreReplaced) {
  const std::string odd = "tab\t quote\" back\\slash \x01 naïve";
  EXPECT_EQ(nlohmann::json::parse(to_json(odd)).get<std::string>(), odd);
  EXPECT_NO_THROW(nlohmann::json::parse(to_json(std::string("\xff\xfe broken \xc3"))));
}

TEST(Format, UnknownNamesAreRefused) {
  EXPECT_EQ(parse_format("json"), Format::json);
  EXPECT_THROW(parse_format("xml"), InvalidInput);
}

}  // namespace
}  // namespace bapi
