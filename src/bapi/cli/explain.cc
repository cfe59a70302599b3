#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/study_and_trial.h"
#include "bapi/report/reasons.h"
#include "bapi/studies/study_insight.h"

namespace bapi {
namespace {

struct ExplainArguments {
  std::vector<std::string> words;
  std::string format = "table";
  bool verbose = false;
};

int explain(const ExplainArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const StudyAndTrial target = study_and_trial(arguments.words);
  const StudyView study = study_to_show(target.study);
  if (target.trial) trial_of(study, *target.trial);
  const std::optional<TrialId> trial = target.trial ? std::optional(TrialId{*target.trial}) : std::nullopt;
  const Detail detail = arguments.verbose ? Detail::everything : Detail::normal;
  print(format == Format::table ? explanation_text(study.events, study.spec(), trial, detail)
                                : render(explanation_table(study.events, study.spec(), trial), format));
  return kDone;
}

}  // namespace

Command explain_command() {
  return {.name = "explain",
          .summary = "Explain every decision, in words and numbers",
          .examples =
              "Examples:\n"
              "  bapi explain mlp            all decisions\n"
              "  bapi explain mlp 7          decisions about trial 7\n"
              "  bapi explain mlp -v         with details of the score and the model fit\n"
              "  bapi explain mlp -f json\n\n"
              "JSON: [{seq, at, trial, decision, rule, because, reason: {...}, assignment: {...}}], all numbers as\n"
              "stored in the log (docs/store.md).",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ExplainArguments>();
            arguments.optional_positionals("[STUDY] [TRIAL]", parsed->words, kStudyHelp);
            arguments.option("-f,--format", parsed->format, "Output format: table (text), json or csv");
            arguments.flag("-v,--verbose", parsed->verbose, "Add details of the score and the model fit");
            return [parsed] { return explain(*parsed); };
          }};
}

}  // namespace bapi
