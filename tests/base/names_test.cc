#include "bapi/base/names.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

enum class Colour { red, blue, grey };

}  // namespace

template <>
inline constexpr auto names<Colour> = NameTable{Name{Colour::red, "red"}, Name{Colour::blue, "blue"}};

namespace {

TEST(Names, WordsAndValuesBelongTogether) {
  for (const Colour colour : {Colour::red, Colour::blue}) EXPECT_EQ(value_named<Colour>(word(colour)), colour);
  EXPECT_EQ(words<Colour>(), (std::vector<std::string_view>{"red", "blue"}));
}

TEST(Names, AnUnknownWordHasNoValue) { EXPECT_FALSE(value_named<Colour>("green")); }

TEST(Names, AValueWithoutAWordIsAMistake) { EXPECT_THROW(word(Colour::grey), LogicError); }

}  // namespace
}  // namespace bapi
