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

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

int retry(const std::vector<std::string>& words) {
  std::string study;
  std::vector<std::int64_t> trials;
  for (const std::string& word : words) {
    const StudyAndTrial target = study_and_trial({word});
    if (is_number(word)) {
      trials.push_back(*target.trial);
    } else {
      require(study.empty(), word + ": expected one study and the numbers of failed trials");
      study = target.study;
    }
  }
  require(!trials.empty(), "expected the numbers of failed trials, for example bapi retry mlp 12");
  const StudyPlace found = locate_place(study);
  for (const std::int64_t trial : trials) {
    retry_trial(found, trial, [](const std::string& line) { print(line + "\n"); });
  }
  return kDone;
}

}  // namespace

Command retry_command() {
  return {
      .name = "retry",
      .summary = "Retry failed trials",
      .examples =
          "Examples:\n"
          "  bapi retry mlp 12\n"
          "  bapi retry mlp 3 7 12\n"
          "  bapi resume mlp\n\n"
          "The trial continues from its checkpoint when the study is run next, before anything else is decided.\n"
          "The cost of the failure stays charged. Once any trial of the study has reported, a process that dies is\n"
          "restarted automatically, once until it reports a new epoch (retries in the study file).\n"
          "Exit codes: 0 done, 2 the trial has not failed, 3 the study is being run.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto words = std::make_shared<std::vector<std::string>>();
        arguments.positionals("[STUDY] TRIAL", *words, "Numbers of failed trials; study as elsewhere");
        return [words] { return retry(*words); };
      }};
}

}  // namespace bapi
