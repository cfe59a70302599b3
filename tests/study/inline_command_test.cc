#include "bapi/study/inline_command.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

using namespace std::string_literals;

std::string message_of(const std::vector<std::string>& arguments) {
  try {
    parse_inline_command(arguments);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

Domain domain_of(const std::string& text) {
  return parse_inline_command(std::vector<std::string>{"./train", "--x~" + text}).params.at(0).domain;
}

TEST(InlineCommand, ParametersBecomeFlagsWithMacros) {
  const std::vector<std::string> arguments = {
      "./train", "--lr~log(1e-5,1)", "--out", "${checkpoint}", "-u~int(16,256)", "--seed=3"};
  const InlineCommand expected = {
      .command = {"./train", "--lr", "${lr}", "--out", "${checkpoint}", "-u", "${u}", "--seed=3"},
      .params = {{.name = "lr", .domain = RealRange{.low = 1e-5, .high = 1.0, .scale = Scale::log}},
                 {.name = "u", .domain = IntRange{.low = 16, .high = 256}}}};
  EXPECT_EQ(parse_inline_command(arguments), expected);
}

TEST(InlineCommand, ReadsEveryDomain) {
  EXPECT_EQ(domain_of("uniform(0, 2.5)"), Domain(RealRange{.low = 0.0, .high = 2.5}));
  EXPECT_EQ(domain_of("log(1e-5,1)"), Domain(RealRange{.low = 1e-5, .high = 1.0, .scale = Scale::log}));
  EXPECT_EQ(domain_of("int(-3,3)"), Domain(IntRange{.low = -3, .high = 3}));
  EXPECT_EQ(domain_of("logint(1,1000)"), Domain(IntRange{.low = 1, .high = 1000, .scale = Scale::log}));
  EXPECT_EQ(domain_of("choice(sgd,adam)"), Domain(Choice{.options = {"sgd"s, "adam"s}}));
  EXPECT_EQ(domain_of("choice(16,32)"),
            Domain(Choice{.options = {std::int64_t{16}, std::int64_t{32}}, .order = Choice::Order::ordered}));
  EXPECT_EQ(domain_of("choice(true,0.5,x)"), Domain(Choice{.options = {true, 0.5, "x"s}}));
  EXPECT_EQ(domain_of("3"), Domain(Constant{std::int64_t{3}}));
  EXPECT_EQ(domain_of("relu"), Domain(Constant{"relu"s}));
}

TEST(InlineCommand, ATildeElsewhereIsAPlainArgument) {
  const std::vector<std::string> arguments = {"~/train", "--data", "~/data", "--path=a~b", "a~int(1,2)", "--"};
  const InlineCommand expected = {.command = arguments, .params = {}};
  EXPECT_EQ(parse_inline_command(arguments), expected);
}

TEST(InlineCommand, MistakesQuoteTheArgument) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--x~", "--x~: found nothing behind '~', expected a domain such as log(1e-5,1) or a value"},
      {"--x~log(1)", "--x~log(1): found 1 values, expected log(min,max)"},
      {"--x~log(a,1)", "--x~log(a,1): found 'a', expected a number"},
      {"--x~int(1,2.5)", "--x~int(1,2.5): found '2.5', expected an integer"},
      {"--x~lgo(1,2)", "--x~lgo(1,2): unknown domain 'lgo', expected log"},
      {"--x~normal(1,2)",
       "--x~normal(1,2): unknown domain 'normal', expected one of uniform, log, int, logint, choice, or a value"},
      {"--x~choice(a,,b)", "--x~choice(a,,b): found an empty value, expected choice(a,b,...)"},
      {"--x~choice()", "--x~choice(): found an empty value, expected choice(a,b,...)"},
      {"--x~log(1,2", "--x~log(1,2: the parenthesis is not closed"},
      {"--dir~int(1,2)", "--dir~int(1,2): the name 'dir' is taken by the macro ${dir}"},
      {"--2x~int(1,2)",
       "--2x~int(1,2): invalid name '2x': use letters, digits, '-', '_' and '.', beginning with a letter"},
      {"${chekpoint}", "${chekpoint}: unknown macro ${chekpoint}; did you mean ${checkpoint}?"}};
  for (const auto& [argument, message] : cases) EXPECT_EQ(message_of({"./train", argument}), message);
  EXPECT_EQ(message_of({"./train", "--x~1", "--x~2"}), "--x~2: parameter 'x' is given twice");
  EXPECT_EQ(message_of({}), "found no command, expected one behind --, for example: -- ./train --lr~'log(1e-5,1)'");
}

}  // namespace
}  // namespace bapi
