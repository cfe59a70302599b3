#include "bapi/report/table.h"

#include <gtest/gtest.h>

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
