#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "bapi/cli/arguments.h"
#include "bapi/report/table.h"
#include "bapi/studies/study_view.h"

namespace bapi {

// What every listing takes: STUDY and -f.
struct ListingArguments {
  std::string study = {};
  std::string format = "table";

  void declare(Arguments& arguments);
  void declare_format(Arguments& arguments);
  Format parsed_format() const { return parse_format(format); }
};

// A line of a text for people: `label` in a column of `width` characters, then `text`, whose control characters are
// shown and not obeyed.
inline constexpr std::size_t kLabelWidth = 11;
std::string labelled(std::string_view label, std::string_view text, std::size_t width = kLabelWidth);

inline void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// A study to be shown. If its log is damaged, says on standard error up to where it is shown.
StudyView study_to_show(const std::string& text);
inline void note(const std::string& text) { std::fprintf(stderr, "bapi: %s\n", text.c_str()); }

}  // namespace bapi
