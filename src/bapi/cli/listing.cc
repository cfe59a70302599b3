#include "bapi/cli/listing.h"

#include <fmt/format.h>

#include "bapi/base/utf8.h"

namespace bapi {

void ListingArguments::declare(Arguments& arguments) {
  arguments.optional_positional("STUDY", study, kStudyHelp);
  declare_format(arguments);
}

void ListingArguments::declare_format(Arguments& arguments) {
  arguments.option("-f,--format", format, "Output format: table, json or csv");
}

StudyView study_to_show(const std::string& text) {
  StudyView study = open_study(text);
  if (study.damage) {
    note(fmt::format("warning: {}: {}. What follows is the study up to event {}; see bapi doctor {}",
                     study.shown(),
                     study.damage->text(),
                     study.damage->seq - 1,
                     study.shown()));
  }
  return study;
}

std::string labelled(std::string_view label, std::string_view text, std::size_t width) {
  return fmt::format("{:<{}}{}\n", label, width, visible(text));
}

}  // namespace bapi
