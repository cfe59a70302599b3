#include "bapi/control/report_parser.h"

#include <gtest/gtest.h>

#include <optional>

#include <limits>

#include <cmath>

namespace bapi {
namespace {

EpochReport epoch_of(std::string_view json) {
  const ReportLine line = parse_report(json, "accuracy");
  return std::holds_alternative<EpochReport>(line) ? std::get<EpochReport>(line)
                                                   : EpochReport{.epoch = -1, .value = {}, .cost = {}, .text = {}};
}

std::string mistake_in(std::string_view json) {
  const ReportLine line = parse_report(json, "accuracy");
  return std::holds_alternative<WrongReport>(line) ? std::get<WrongReport>(line).message : "";
}

TEST(ParseReport, ReadsEpochMetricAndCost) {
  const EpochReport report = epoch_of(R"( {"epoch": 3, "accuracy": 0.91, "cost": 2, "loss": [1]} )");
  EXPECT_EQ(report.epoch, 3);
  EXPECT_EQ(report.value, 0.91);
  EXPECT_EQ(report.cost, 2.0);
  EXPECT_FALSE(epoch_of(R"({"epoch": 0})").value.has_value());
  EXPECT_EQ(epoch_of(R"({"epoch": 3.0, "accuracy": 1e-3})").value, 1e-3);
}

TEST(ParseReport, UnderstandsNumbersThatJsonCannotWrite) {
  EXPECT_TRUE(std::isnan(*epoch_of(R"({"epoch": 3, "accuracy": NaN})").value));
  EXPECT_TRUE(std::isnan(*epoch_of(R"({"epoch": 3, "accuracy": "nan", "note": "a \"NaN\" here"})").value));
  EXPECT_EQ(*epoch_of(R"({"epoch": 3, "accuracy": -Infinity, "rate": 1e-5, "ok": true})").value, -INFINITY);
  EXPECT_EQ(*epoch_of(R"({"epoch": 3, "accuracy": inf})").value, INFINITY);
  EXPECT_EQ(*epoch_of(R"({"epoch": 3, "loss": NaN, "accuracy": 2E-1})").value, 0.2);
}

TEST(ParseReport, TellsTheReadyMark) {
  EXPECT_EQ(parse_report(R"({"ready": true})", "accuracy"), ReportLine(ReadyReport{}));
  EXPECT_NE(mistake_in(R"({"ready": false})"), "");
}

TEST(ParseReport, SaysWhatIsWrong) {
  EXPECT_EQ(mistake_in(R"({"step": 3})"),
            R"(the report {"step": 3} has no "epoch"; expected a line such as {"epoch": 3, "accuracy": 0.91})");
  EXPECT_NE(mistake_in(R"({"epoch": "3", "accuracy": 1})").find(R"("epoch": "3", which is not a whole number)"),
            std::string::npos);
  for (const char* epoch : {"2.5", "-1", "1e12", "null", "[]", "NaN"}) {
    EXPECT_NE(mistake_in(std::string(R"({"accuracy": 1, "epoch": )") + epoch + "}"), "") << epoch;
  }
  EXPECT_NE(mistake_in(R"({"epoch": 1, "accuracy": null})"), "");
  EXPECT_NE(mistake_in(R"({"epoch": 1, "accuracy": 1, "cost": "much"})"), "");
  EXPECT_LT(mistake_in(R"({"text": ")" + std::string(10000, 'x') + "\"}").size(), 400u);
}

TEST(ParseReport, ValuesNestedWithoutEndAreNamedAndNotWrittenOut) {
  constexpr int kDeep = 200000;  // the stack would not hold a frame for each
  const std::string nested = std::string(kDeep, '[') + std::string(kDeep, ']');
  const std::string metric = mistake_in(R"({"epoch": 1, "accuracy": )" + nested + "}");
  EXPECT_NE(metric.find(R"("accuracy": a list, which is not a number)"), std::string::npos) << metric;
  EXPECT_LT(metric.size(), 500u);
  EXPECT_NE(mistake_in(R"({"accuracy": 1, "epoch": {"a": )" + nested + "}}").find("an object"), std::string::npos);
}

TEST(ParseReport, AnythingElseIsNoReport) {
  for (const char* text : {"", "hello", "[1]", "3", "{", R"({"epoch": 3, "accuracy")", "{}}", "\xff\xfe{"}) {
    EXPECT_EQ(parse_report(text, "accuracy"), ReportLine(NoReport{})) << text;
  }
}

TEST(TaggedReport, FindsTheTagWhereverItBegins) {
  EXPECT_EQ(tagged_report("bapi: {\"epoch\": 1}"), "{\"epoch\": 1}");
  EXPECT_EQ(tagged_report("bapi:{}"), "{}");
  EXPECT_EQ(tagged_report(" 50%|###  |\rbapi: {}"), "{}");
  EXPECT_EQ(tagged_report("INFO root [tune-metric]: {\"epoch\": 1}"), "{\"epoch\": 1}");
  EXPECT_EQ(tagged_report("bapi: starts; then bapi: {}"), "{}");
}

TEST(TaggedReport, IsNotFooledByLookalikes) {
  for (const char* line : {"", "bapi", "bapi: ready", "mybapi: {}", "{\"epoch\": 1}", "[bapi] {}", "bapi : {}"}) {
    EXPECT_FALSE(tagged_report(line).has_value()) << line;
  }
}

TEST(ParseReport, KeepsEveryOtherNumberAndNothingElse) {
  const auto report = std::get<EpochReport>(parse_report(
      R"({"epoch": 3, "accuracy": 0.9, "cost": 2, "loss": 0.25, "recall": NaN, "note": "text", "ok": true, "list": [1]})",
      "accuracy"));
  ASSERT_EQ(report.others.size(), 2u);
  EXPECT_EQ(report.others.at("loss"), 0.25);
  EXPECT_TRUE(std::isnan(report.others.at("recall")));
}

TEST(ParseReport, KeepsAtMostSoManyOtherNumbers) {
  std::string line = R"({"epoch": 3, "accuracy": 0.9)";
  for (int i = 0; i < 2000; ++i) line += ", \"m" + std::to_string(i) + "\": 1";
  EXPECT_EQ(std::get<EpochReport>(parse_report(line + "}", "accuracy")).others.size(), kMostOtherMetrics);
}

TEST(ReportLine, IsReadAsWhatWasWritten) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.1 + 0.2, -1e300, 0.0, 5e-324, kInfinity, -kInfinity}) {
    for (const std::optional<double> cost : {std::optional<double>(), std::optional<double>(1.0 / 3.0)}) {
      const EpochReport report{
          .epoch = 7, .value = value, .cost = cost, .others = {{"a \"b\"", 0.1}, {"c", value}}, .text = ""};
      const auto read = std::get<EpochReport>(parse_report(report_line(report, "the \"loss\""), "the \"loss\""));
      EXPECT_EQ(read.epoch, 7);
      EXPECT_EQ(read.value, value);
      EXPECT_EQ(read.cost, cost);
      EXPECT_EQ(read.others, report.others);
    }
  }
  const EpochReport diverged{.epoch = 1, .value = std::nan(""), .cost = {}, .text = ""};
  EXPECT_TRUE(std::isnan(*std::get<EpochReport>(parse_report(report_line(diverged, "loss"), "loss")).value));
}

}  // namespace
}  // namespace bapi
