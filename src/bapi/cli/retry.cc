#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/study_and_trial.h"
#include "bapi/studies/study_retry.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

int retry(const std::vector<std::string>& words) {
  const StudyAndTrial target = study_and_trial(words);
  require(target.trial.has_value(), "expected the number of a failed trial, for example bapi retry mlp 12");
  retry_trial(locate_study(target.study), *target.trial, [](const std::string& line) { print(line + "\n"); });
  return kDone;
}

}  // namespace

Command retry_command() {
  return {.name = "retry",
          .summary = "Give a failed trial another chance",
          .examples =
              "Examples:\n"
              "  bapi retry mlp 12\n"
              "  bapi resume mlp\n\n"
              "The trial continues from its checkpoint when the study is run next, before anything else is decided.\n"
              "What its failure cost stays charged. A trial whose process dies after a report is retried once without\n"
              "being asked for (retries in the study file).\n"
              "Exit codes: 0 done, 2 the trial has not failed, 3 the study is being run.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto words = std::make_shared<std::vector<std::string>>();
            arguments.positionals("[STUDY] TRIAL", *words, "Number of the trial; study as elsewhere");
            return [words] { return retry(*words); };
          }};
}

}  // namespace bapi
