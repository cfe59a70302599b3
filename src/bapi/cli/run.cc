#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/controller.h"
#include "bapi/cli/study_input.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

struct RunArguments {
  StudyInput input;
  std::string directory = ".";
  std::string format = "table";
  bool quiet = false;
};

int run(const RunArguments& arguments) {
  const ControlOptions options{.verbosity = arguments.quiet ? Verbosity::quiet : Verbosity::normal,
                               .format = parse_format(arguments.format)};
  const StudySpec spec = spec_of(arguments.input);
  const StudyDir dir(std::filesystem::path(arguments.directory) / (spec.name + ".bapi"));
  return run_to_end([&](const RunOptions& run) { return run_study(spec, dir, run); }, options);
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .summary = "Tune until the budget is spent; continues an existing study",
          .examples =
              "Examples:\n"
              "  bapi run study.yaml\n"
              "  bapi run study.yaml --budget 2h --workers 4\n"
              "  bapi run --budget 30m --epochs 50 --metric accuracy -- ./train --lr~'log(1e-5,1)' "
              "--units~'int(16,256)'\n\n"
              "The study lives in NAME.bapi/. Run the same command again after Ctrl-C, a crash or a power cut to\n"
              "continue. With another budget it continues to that total. Workers, deadline, grace, time-outs and\n"
              "environment may change too; for any other change use another --name. Domains of the inline form:\n"
              "log(a,b), uniform(a,b), int(a,b), logint(a,b), choice(a,b,...).\n"
              "Ctrl-C pauses the running trials at their checkpoints; a second one kills at once.\n"
              "Exit codes: 0 the study has ended, 1 too many trials failed or none reported, 130 interrupted.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<RunArguments>();
            parsed->input.declare(arguments);
            arguments.option("-d,--dir", parsed->directory, "Directory in which NAME.bapi/ lives; default: this one");
            arguments.flag("-q,--quiet", parsed->quiet, "Print the result only");
            arguments.option(
                "-f,--format", parsed->format, "Output format: table, json or csv (same fields as bapi status)");
            return [parsed] { return run(*parsed); };
          }};
}

}  // namespace bapi
