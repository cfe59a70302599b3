#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/user_request.h"

namespace bapi {

namespace {

int write_note(const std::vector<std::string>& words) {
  require(words.size() <= 2, "expected one text; put it in quotes");
  return ask_of_study(
      words.size() == 2 ? words.front() : "", {.action = RequestAction::note, .text = words.back()}, "noted");
}

}  // namespace

Command note_command() {
  return {.name = "note",
          .summary = "Add a note to the log of a study",
          .examples =
              "Examples:\n"
              "  bapi note mlp \"swapped the GPU at noon\"\n\n"
              "Works while the study is running and between runs. bapi export -f json and the dashboard show notes.\n"
              "Exit codes: 0 done, 2 the note is empty or too long.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto words = std::make_shared<std::vector<std::string>>();
            arguments.positionals("[STUDY] TEXT", *words, "The note, in quotes; study as elsewhere");
            return [words] { return write_note(*words); };
          }};
}

}  // namespace bapi
