#include "bapi/study/names.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

using namespace std::string_view_literals;

TEST(ParamNameMistake, NamesMustServeAsMacroAndFlag) {
  for (const std::string name : {"lr", "batch_size", "model.depth", "weight-decay", "L2", "_x"}) {
    EXPECT_EQ(param_name_mistake(name), std::nullopt) << name;
  }
  for (const std::string name : {"", "2x", "a b", "-lr", "a{b}", "a~b", "a=b"}) {
    EXPECT_EQ(param_name_mistake(name),
              "invalid name '" + name + "': use letters, digits, '-', '_' and '.', beginning with a letter");
  }
  EXPECT_EQ(param_name_mistake("dir"), "the name 'dir' is taken by the macro ${dir}");
}

TEST(StudyNameMistake, NamesMustServeAsDirectory) {
  for (const std::string name : {"mlp", "a.b-c_d", "0", "_x"})
    EXPECT_EQ(study_name_mistake(name), std::nullopt) << name;
  for (const std::string name : {"", ".", "..", "-a", "a/b", "a b", "a\n"})
    EXPECT_TRUE(study_name_mistake(name)) << name;
  EXPECT_FALSE(study_name_mistake(std::string(250, 'a')));
  EXPECT_TRUE(study_name_mistake(std::string(251, 'a')));
}

TEST(MetricNameMistake, KeysOfEveryReportAreTaken) {
  for (const std::string name : {"accuracy", "val/loss", "epochs", "Cost"}) {
    EXPECT_EQ(metric_name_mistake(name), std::nullopt) << name;
  }
  for (const std::string name : {"epoch", "cost", "ready", "a\tb"}) EXPECT_TRUE(metric_name_mistake(name)) << name;
}

TEST(VariableNameMistake, NamesOfBapiAreTaken) {
  EXPECT_EQ(variable_name_mistake("OMP_NUM_THREADS"), std::nullopt);
  EXPECT_EQ(variable_name_mistake("BAPI_DIR"), "BAPI_DIR is set by bapi itself");
  for (const std::string name : {"", "a=b", "a\x1b"}) EXPECT_TRUE(variable_name_mistake(name)) << name;
}

TEST(TextMistake, LineBreaksAndTabsAreTextAndOtherControlCharactersAreNot) {
  EXPECT_EQ(text_mistake("two\nlines\tnaïve\r\n"), std::nullopt);
  for (const std::string_view text : {"a\0b"sv, "\x1b[2J"sv, "\x7f"sv}) EXPECT_TRUE(text_mistake(text)) << text;
}

}  // namespace
}  // namespace bapi
