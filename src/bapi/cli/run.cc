#include <memory>

#include "bapi/cli/cluster_commands.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/controller.h"
#include "bapi/cli/study_input.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

struct RunArguments {
  StudyInput input;
  std::string directory = ".";
  std::optional<std::string> storage;
  std::string format = "table";
  bool quiet = false;
  bool keep_going = false;
};

// With --storage, a study that only leads has no workers of its own.
StudyInput for_storage(StudyInput input) {
  if (input.overrides.workers == 0) input.overrides.workers.reset();
  return input;
}

int run(const RunArguments& arguments) {
  const StudySpec spec = spec_of(arguments.storage ? for_storage(arguments.input) : arguments.input);
  const StudyDir dir(std::filesystem::path(arguments.directory) / (spec.name + ".bapi"));
  const StudyPlace place = arguments.storage ? storage_place(*arguments.storage, spec.name) : StudyPlace(dir);
  ControlOptions options{.verbosity = arguments.quiet ? Verbosity::quiet : Verbosity::normal,
                         .format = parse_format(arguments.format),
                         .keep_going = arguments.keep_going,
                         .home = home_of(arguments.input),
                         .watch = "bapi dashboard " + place.shown()};
  if (place.in_database()) {
    options.cluster = cluster_here(place.database(), arguments.input.overrides.workers.value_or(spec.workers));
    options.cluster.files = dir.root();
  }
  return run_to_end([&](const RunOptions& run) { return run_study(spec, place, run); }, options);
}

}  // namespace

Command run_command() {
  return {
      .name = "run",
      .summary = "Tune until the budget is spent; continue a study",
      .examples =
          "Examples:\n"
          "  bapi run study.yaml\n"
          "  bapi run study.yaml --budget 2h --workers 4\n"
          "  bapi run --budget 30m --epochs 50 --metric accuracy -- \\\n"
          "      ./train --lr~'log(1e-5,1)' --units~'int(16,256)'\n\n"
          "The study is kept in NAME.bapi/. To continue after Ctrl-C, a crash or a power cut, run the same command\n"
          "again; with a larger budget, it continues to that total. Command, environment, working directory,\n"
          "workers, deadline, grace and time-outs may change too, and everything until the first epoch was\n"
          "reported; for any other change use another --name. Domains of the inline form:\n"
          "log(a,b), uniform(a,b), int(a,b), logint(a,b), choice(a,b,...).\n"
          "With --storage the study is kept in a PostgreSQL database, and workers on other machines can train it too\n"
          "(bapi worker, docs/workers.md). With --workers 0 nothing is trained on this machine.\n"
          "Ctrl-C pauses the running trials at their checkpoints; a second Ctrl-C kills them at once.\n"
          "Exit codes: 0 the study has ended, 1 the program cannot be run, failed before any trial reported, or too\n"
          "many trials failed (fix it and run again), 130 interrupted.",
      .interruptible = true,
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<RunArguments>();
        parsed->input.declare(arguments);
        arguments.option(
            "-d,--dir", parsed->directory, "Parent directory of NAME.bapi/; default: the current directory");
        arguments.option("--storage",
                         parsed->storage,
                         "Database of the study: postgresql://user@host/database; default: NAME.bapi/study.db");
        arguments.flag("-k,--keep-going", parsed->keep_going, kKeepGoingHelp);
        arguments.flag("-q,--quiet", parsed->quiet, "Print the result only");
        arguments.option(
            "-f,--format", parsed->format, "Output format: table, json or csv (same fields as bapi status)");
        return [parsed] { return run(*parsed); };
      }};
}

}  // namespace bapi
