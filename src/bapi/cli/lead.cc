#include <memory>

#include "bapi/cli/cluster_commands.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/controller.h"
#include "bapi/cli/study_input.h"
#include "bapi/studies/study_file.h"

namespace bapi {

namespace {

struct LeadArguments {
  std::string study;
  std::string file = {};
  std::string format = "table";
  bool quiet = false;
  bool keep_going = false;
};

int lead(const LeadArguments& arguments) {
  const StudyPlace place = database_place(arguments.study);
  remember_storage(place.database());
  ControlOptions options{.verbosity = arguments.quiet ? Verbosity::quiet : Verbosity::normal,
                         .format = parse_format(arguments.format),
                         .keep_going = arguments.keep_going};
  if (!arguments.file.empty()) options.cluster.programs = own_programs(arguments.file);
  return run_to_end([&](const RunOptions& run) { return lead_study(place.database(), run); }, options);
}

}  // namespace

Command lead_command() {
  return {.name = "lead",
          .summary = "Decide for the workers of a study in a database",
          .examples =
              "Examples:\n"
              "  bapi lead postgresql://ann@db/tuning#mlp\n\n"
              "Leads a study as it is, and trains nothing. Seldom needed: bapi run leads, and a worker runs this\n"
              "command by itself when the study has no leader.\n"
              "Exit codes: as bapi run, and 3 if another process leads the study.",
          .interruptible = true,
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<LeadArguments>();
            arguments.positional("STUDY", parsed->study, kDatabaseStudyHelp);
            arguments.option("--file",
                             parsed->file,
                             "Study file whose hooks to run, whatever the database says; default: the study's");
            arguments.flag("-k,--keep-going", parsed->keep_going, kKeepGoingHelp);
            arguments.flag("-q,--quiet", parsed->quiet, "Print the result only");
            arguments.option(
                "-f,--format", parsed->format, "Output format: table, json or csv (same fields as bapi status)");
            return [parsed] { return lead(*parsed); };
          }};
}

}  // namespace bapi
