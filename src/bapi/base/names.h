#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bapi/base/error.h"

namespace bapi {

// The words of an enumeration: what its values are called in files, options, tables and on the screen. One table for
// every enumeration that has words, next to its definition:
//
//   template <>
//   inline constexpr auto names<Goal> = NameTable{Name{Goal::maximize, "maximize"}, Name{Goal::minimize, "minimize"}};

template <typename Enum>
struct Name {
  Enum value;
  std::string_view word;
};

template <typename Enum, std::size_t n>
struct NameTable {
  std::array<Name<Enum>, n> entries;

  template <typename... Rest>
  constexpr explicit NameTable(Name<Enum> first, Rest... rest) : entries{first, rest...} {}
};
template <typename Enum, typename... Rest>
NameTable(Name<Enum>, Rest...) -> NameTable<Enum, 1 + sizeof...(Rest)>;

struct NoNames {};

template <typename Enum>
inline constexpr auto names = NoNames{};

template <typename T>
concept Named = std::is_enum_v<T> && !std::is_same_v<std::remove_cvref_t<decltype(names<T>)>, NoNames>;

// LogicError for a value without a word.
template <Named Enum>
constexpr std::string_view word(Enum value) {
  for (const Name<Enum>& name : names<Enum>.entries) {
    if (name.value == value) return name.word;
  }
  throw LogicError("word: an enumeration holds a value without a word");
}

template <Named Enum>
constexpr std::optional<Enum> value_named(std::string_view word) {
  for (const Name<Enum>& name : names<Enum>.entries) {
    if (name.word == word) return name.value;
  }
  return std::nullopt;
}

// In the order of the table.
template <Named Enum>
std::vector<std::string_view> words() {
  std::vector<std::string_view> list;
  for (const Name<Enum>& name : names<Enum>.entries) list.push_back(name.word);
  return list;
}

}  // namespace bapi
