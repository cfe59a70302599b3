#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace bapi {

// One line of a list of fields (`fields(visitor, value)`, see spec_fields.h and reason_fields.h): the field's name and
// what holds for it. Each visitor looks at what concerns it: codec, study file, validation, changes of a study.
struct Field {
  // What is wrong with a text, or nullopt; see names.h.
  using Rule = std::optional<std::string> (*)(std::string_view);
  enum class Sign { any, not_negative, positive };

  std::string_view name;          // in the log
  std::string_view key = name;    // in the study file; empty: not there
  std::string_view what = {};     // what a study file is expected to have here, for messages
  std::string_view example = {};  // what to write if the study file lacks it; empty: it may be left out
  Rule rule = nullptr;            // for texts
  Sign sign = Sign::any;          // for numbers
  bool seconds = false;           // a number that is written as a duration
  bool free = false;              // may be changed in a study that exists; its results stay comparable
  bool correctable = false;       // may be changed until something was reported
  bool later = false;             // added after version 0.1: older logs do not have it
  bool for_programs = false;      // concerns training programs only, not functions

  constexpr Field(const char* field_name) : name(field_name) {}       // NOLINT: lists read better with plain names
  constexpr Field(std::string_view field_name) : name(field_name) {}  // NOLINT

  constexpr Field in_file(std::string_view other) const { return with(&Field::key, other); }
  constexpr Field not_in_file() const { return in_file({}); }
  constexpr Field expects(std::string_view noun) const { return with(&Field::what, noun); }
  constexpr Field required(std::string_view line) const { return with(&Field::example, line); }
  constexpr Field obeys(Rule names_rule) const { return with(&Field::rule, names_rule); }
  constexpr Field not_negative() const { return with(&Field::sign, Sign::not_negative); }
  constexpr Field positive() const { return with(&Field::sign, Sign::positive); }
  constexpr Field in_seconds() const { return with(&Field::seconds, true); }
  constexpr Field may_change() const { return with(&Field::free, true); }
  constexpr Field may_be_corrected() const { return with(&Field::correctable, true); }
  constexpr Field added() const { return with(&Field::later, true); }
  constexpr Field of_programs() const { return with(&Field::for_programs, true); }

 private:
  template <typename T>
  constexpr Field with(T Field::*property, T value) const {
    Field changed = *this;
    changed.*property = value;
    return changed;
  }
};

template <typename T, typename Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

// A struct whose fields a visitor can be shown.
template <typename T, typename Visitor>
concept Listed = requires(Visitor& visit, T& value) {
  fields(visit, value);
};

}  // namespace bapi
