#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/controller.h"
#include "bapi/cli/study_input.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

struct ResumeArguments {
  std::string study;
  StudyChanges changes;
  std::string format = "table";
  bool quiet = false;
};

int resume(const ResumeArguments& arguments) {
  const ControlOptions options{.verbosity = arguments.quiet ? Verbosity::quiet : Verbosity::normal,
                               .format = parse_format(arguments.format)};
  return run_to_end(
      [&](const RunOptions& run) { return resume_study(locate_study(arguments.study), arguments.changes, run); },
      options);
}

}  // namespace

Command resume_command() {
  return {.name = "resume",
          .summary = "Continue a study without its study file",
          .examples =
              "Examples:\n"
              "  bapi resume mlp.bapi\n"
              "  bapi resume mlp --budget 2h      (a total: a study that had spent its 1h gets one more hour)\n\n"
              "Call it from the directory where the study was created if its command has relative paths.\n"
              "Exit codes: as bapi run.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ResumeArguments>();
            arguments.optional_positional("STUDY", parsed->study, kStudyHelp);
            declare(parsed->changes, arguments);
            arguments.flag("-q,--quiet", parsed->quiet, "Nothing but the result");
            arguments.option(
                "-f,--format", parsed->format, "Output format: table, json or csv (same fields as bapi status)");
            return [parsed] { return resume(*parsed); };
          }};
}

}  // namespace bapi
