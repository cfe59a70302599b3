#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/user_request.h"

namespace bapi {

namespace {

int pause(const std::string& study) {
  return ask_of_study(study, {.action = RequestAction::pause}, "paused; bapi resume continues it");
}

}  // namespace

Command pause_command() {
  return {.name = "pause",
          .summary = "Pause a study that runs elsewhere",
          .examples =
              "Examples:\n"
              "  bapi pause mlp\n"
              "  bapi resume mlp\n\n"
              "Ends the run as Ctrl-C does: running trials are interrupted and continue from their checkpoints.\n"
              "Exit codes: 0 done, 2 the study is not running.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto study = std::make_shared<std::string>();
            arguments.optional_positional("STUDY", *study, kStudyHelp);
            return [study] { return pause(*study); };
          }};
}

}  // namespace bapi
