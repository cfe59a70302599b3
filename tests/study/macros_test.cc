#include "bapi/study/macros.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

const std::vector<Param> kParams = {{.name = "lr", .domain = RealRange{}},
                                    {.name = "batch-size", .domain = IntRange{}}};

TEST(MacroMistake, ParametersAndBuiltInNamesAreKnown) {
  for (const std::string argument :
       {"${lr}", "--lr=${lr}", "${batch-size}", "${dir}/${trial}.log", "$lr", "{lr}", "$", ""}) {
    EXPECT_EQ(macro_mistake(argument, kParams), std::nullopt) << argument;
  }
  for (const std::string& name : builtin_macros()) EXPECT_EQ(macro_mistake("${" + name + "}", {}), std::nullopt);
}

TEST(MacroMistake, UnknownNamesAreExplained) {
  EXPECT_EQ(macro_mistake("${checkpont}", kParams), "unknown macro ${checkpont}; did you mean ${checkpoint}?");
  EXPECT_EQ(macro_mistake("${lr}${batch_size}", kParams), "unknown macro ${batch_size}; did you mean ${batch-size}?");
  EXPECT_EQ(macro_mistake("${HOME}/x", kParams),
            "unknown macro ${HOME}; expected a parameter or one of args, config, trial, dir, checkpoint, from, until "
            "(there is no shell, and no environment)");
  EXPECT_EQ(macro_mistake("--all=${args}", kParams), "${args} stands for several arguments and must be alone");
  EXPECT_EQ(macro_mistake("--lr=${lr", kParams), "'${lr' is not closed, expected ${name}");
}

TEST(ParamNameMistake, NamesMustServeAsMacroAndFlag) {
  for (const std::string name : {"lr", "batch_size", "model.depth", "weight-decay", "L2", "_x"}) {
    EXPECT_EQ(param_name_mistake(name), std::nullopt) << name;
  }
  for (const std::string name : {"", "2x", "a b", "-lr", "a{b}", "a~b", "a=b"}) {
    EXPECT_EQ(param_name_mistake(name),
              "'" + name + "' is no name; expected a letter, then letters, digits, '_', '-' and '.'");
  }
  EXPECT_EQ(param_name_mistake("dir"), "the name 'dir' is taken by the macro ${dir}");
}

}  // namespace
}  // namespace bapi
