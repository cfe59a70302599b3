#include "bapi/study/quantity.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace quantity_test {

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseDuration, ReadsEveryUnit) {
  const std::vector<std::pair<std::string, double>> cases = {{"45", 45.0},
                                                             {"0", 0.0},
                                                             {"90s", 90.0},
                                                             {"30m", 1800.0},
                                                             {"2h", 7200.0},
                                                             {"1h30m", 5400.0},
                                                             {"1.5h", 5400.0},
                                                             {"2d", 172800.0},
                                                             {"30 min", 1800.0},
                                                             {"2 hours", 7200.0},
                                                             {"1h 30m", 5400.0},
                                                             {"1 h 30 m", 5400.0},
                                                             {"10 seconds", 10.0},
                                                             {" 5s ", 5.0},
                                                             {"1d2h3m4s", 93784.0}};
  for (const auto& [text, seconds] : cases) EXPECT_EQ(parse_duration(text, "x"), seconds) << text;
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const std::string text :
       {"", " ", "-5s", "5x", "h", "1h30", "5 s m", "inf", "nan", "1,5h", "500 epochs", "1e999s"}) {
    EXPECT_EQ(
        message_of([&] { parse_duration(text, "study.yaml:3:9: grace"); }),
        "study.yaml:3:9: grace: found '" + text + "', expected a duration such as 90s, 30m, 2h, 1h30m or seconds");
  }
}

TEST(ParseBudget, TimeIsMeasuredInSeconds) {
  EXPECT_EQ(parse_budget("30m", "b"), (BudgetSpec{.limit = 1800.0, .unit = "s", .meter = Meter::accrued}));
  EXPECT_EQ(parse_budget("1h30m", "b").limit, 5400.0);
  EXPECT_EQ(parse_budget("60", "b").limit, 60.0);
}

TEST(ParseBudget, EpochsAreCountedAndOtherUnitsAreReported) {
  EXPECT_EQ(parse_budget("500 epochs", "b"), (BudgetSpec{.limit = 500.0, .unit = "epochs", .meter = Meter::epochs}));
  EXPECT_EQ(parse_budget("1 epoch", "b").unit, "epochs");
  EXPECT_EQ(parse_budget("12 usd", "b"), (BudgetSpec{.limit = 12.0, .unit = "usd", .meter = Meter::reported}));
  EXPECT_EQ(parse_budget("3e6 joule", "b"), (BudgetSpec{.limit = 3e6, .unit = "joule", .meter = Meter::reported}));
  EXPECT_EQ(parse_budget("5 kWh", "b").unit, "kWh");
  for (const std::string unit : {"steps", "tokens", "euros", "joules", "j"}) {
    EXPECT_EQ(parse_budget("7 " + unit, "b").meter, Meter::reported) << unit;
  }
}

TEST(ParseBudget, MisspeltUnitsAreErrors) {
  EXPECT_EQ(message_of([] { parse_budget("30 minuts", "--budget"); }),
            "--budget: unknown unit 'minuts'; did you mean 'minutes'?");
  EXPECT_EQ(message_of([] { parse_budget("500 epoch s", "--budget"); }),
            "--budget: found '500 epoch s', expected a budget such as 30m, 2h, '500 epochs' or '12 usd'");
  EXPECT_EQ(message_of([] { parse_budget("500 epocs", "--budget"); }),
            "--budget: unknown unit 'epocs'; did you mean 'epochs'?");
  for (const std::string text : {"", "lots", "-3 usd", "usd 12"}) {
    EXPECT_EQ(message_of([&] { parse_budget(text, "b"); }),
              "b: found '" + text + "', expected a budget such as 30m, 2h, '500 epochs' or '12 usd'");
  }
}

TEST(ParseBudget, RefusesWhatBuysNoEpoch) {
  EXPECT_EQ(message_of([] { parse_budget("0.5 epochs", "--budget"); }),
            "--budget: found 0.5 epochs, expected at least 1");
  EXPECT_EQ(message_of([] { parse_budget("1e-300s", "--budget"); }),
            "--budget: found 1e-300 seconds, expected at least a millisecond");
  EXPECT_EQ(parse_budget("1 epoch", "").limit, 1.0);
  EXPECT_EQ(parse_budget("1e-3", "").limit, 1e-3);
}

}  // namespace quantity_test
}  // namespace bapi
