#include <memory>

#include "bapi/cli/cluster_commands.h"
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
  bool keep_going = false;
};

int resume(const ResumeArguments& arguments) {
  const StudyPlace place = locate_place(arguments.study);
  StudyChanges changes = arguments.changes;
  ControlOptions options{.verbosity = arguments.quiet ? Verbosity::quiet : Verbosity::normal,
                         .format = parse_format(arguments.format),
                         .keep_going = arguments.keep_going};
  if (place.in_database()) {
    const int slots = changes.workers.value_or(place.open_for_reading()->spec().workers);
    if (slots == 0) changes.workers.reset();
    options.cluster = cluster_here(place.database(), slots);
  }
  return run_to_end([&](const RunOptions& run) { return resume_study(place, changes, run); }, options);
}

}  // namespace

Command resume_command() {
  return {.name = "resume",
          .summary = "Continue a study without its study file",
          .examples =
              "Examples:\n"
              "  bapi resume mlp.bapi\n"
              "  bapi resume mlp --budget 2h      a total: after 1h spent, one hour more\n"
              "  bapi resume postgresql://ann@db/tuning#mlp --workers 0    trains nothing here\n\n"
              "The program runs in the directory that the study remembers (cwd), wherever you call it from.\n"
              "Exit codes: as bapi run.",
          .interruptible = true,
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ResumeArguments>();
            arguments.optional_positional("STUDY", parsed->study, kStudyHelp);
            declare(parsed->changes, arguments);
            arguments.flag("-k,--keep-going", parsed->keep_going, kKeepGoingHelp);
            arguments.flag("-q,--quiet", parsed->quiet, "Print the result only");
            arguments.option(
                "-f,--format", parsed->format, "Output format: table, json or csv (same fields as bapi status)");
            return [parsed] { return resume(*parsed); };
          }};
}

}  // namespace bapi
