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
  for (const std::string_view name : words<Macro>()) {
    EXPECT_EQ(macro_mistake("${" + std::string(name) + "}", {}), std::nullopt);
  }
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

TEST(PiecesOf, AnArgumentIsCutAtItsMacros) {
  using Kind = ArgumentPiece::Kind;
  using Pieces = std::vector<ArgumentPiece>;
  EXPECT_EQ(pieces_of("--lr=${lr}"), (Pieces{{Kind::text, "--lr="}, {Kind::macro, "lr"}}));
  EXPECT_EQ(pieces_of("${a}${b}c"), (Pieces{{Kind::macro, "a"}, {Kind::macro, "b"}, {Kind::text, "c"}}));
  EXPECT_EQ(pieces_of("a${b"), (Pieces{{Kind::text, "a"}, {Kind::unclosed, "${b"}}));
  EXPECT_EQ(pieces_of("$a {b}"), (Pieces{{Kind::text, "$a {b}"}}));
  EXPECT_EQ(pieces_of(""), Pieces{});
}

TEST(HandsOverParameters, IfAnyPartOfTheConfigurationIsInTheCommand) {
  EXPECT_TRUE(hands_over_parameters({"./fit", "${args}"}));
  EXPECT_TRUE(hands_over_parameters({"./fit", "--config=${config}"}));
  EXPECT_TRUE(hands_over_parameters({"./fit", "--out=${dir}/${lr}"}));
  EXPECT_FALSE(hands_over_parameters({"./fit", "${checkpoint}", "${dir}", "${trial}", "${from}", "${until}", "${"}));
  EXPECT_FALSE(hands_over_parameters({}));
}

}  // namespace
}  // namespace bapi
