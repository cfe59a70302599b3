#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/study_and_trial.h"
#include "bapi/cli/user_request.h"

namespace bapi {

namespace {

int stop(const std::vector<std::string>& words) {
  const StudyAndTrial target = study_and_trial(words);
  require(target.trial.has_value(), "expected the number of a trial, for example bapi stop mlp 12");
  return ask_of_study(target.study,
                      {.action = RequestAction::stop_trial, .trial = TrialId{*target.trial}},
                      fmt::format("trial {} is stopped", *target.trial));
}

}  // namespace

Command stop_command() {
  return {.name = "stop",
          .summary = "Stop a running or paused trial for good",
          .examples =
              "Examples:\n"
              "  bapi stop mlp 12\n\n"
              "A running trial is ended, a paused one is never resumed. Its cost stays charged, and its curve still "
              "counts.\n"
              "Works while the study is running and between runs.\n"
              "Exit codes: 0 done, 2 the trial has ended or does not exist.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto words = std::make_shared<std::vector<std::string>>();
            arguments.positionals("[STUDY] TRIAL", *words, "Number of the trial; study as elsewhere");
            return [words] { return stop(*words); };
          }};
}

}  // namespace bapi
