#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/cluster_commands.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/terminal.h"
#include "bapi/studies/study_file.h"
#include "bapi/studies/work_on_study.h"
#include "bapi/study/quantity.h"

namespace bapi {

namespace {

struct WorkerArguments {
  std::string study;
  std::optional<int> slots;
  std::string dir;
  std::string scratch;
  std::optional<std::string> checkpoints;
  Transfer transfer;
  std::string file;
  std::string patience = "10m";
  bool no_lead = false;
  bool quiet = false;
};

WorkOptions::Checkpoints checkpoints_of(const WorkerArguments& arguments) {
  const std::string where = arguments.checkpoints.value_or("shared");
  require(where == "shared" || where == "local", fmt::format("--checkpoints {}: expected shared or local", where));
  const bool carried = arguments.transfer.given();
  require_one_place(arguments.transfer, arguments.dir);
  require(!carried || !arguments.checkpoints,
          "give --fetch and --push, or --checkpoints: checkpoints are in one place");
  require(where != "local" || arguments.dir.empty(), "give --dir or --checkpoints local, not both");
  if (carried) return WorkOptions::Checkpoints::carried;
  return where == "local" ? WorkOptions::Checkpoints::local : WorkOptions::Checkpoints::shared;
}

int worker(const WorkerArguments& arguments) {
  const InterruptFlag leave;
  const DatabaseStudy study = database_place(arguments.study).database();
  remember_storage(study);
  WorkOptions options{.slots = arguments.slots,
                      .checkpoints = checkpoints_of(arguments),
                      .dir = arguments.dir,
                      .transfer = arguments.transfer,
                      .scratch = arguments.scratch,
                      .leave = leave.flag(),
                      .patience = parse_duration(arguments.patience, "--patience"),
                      .version = BAPI_VERSION};
  if (!arguments.file.empty()) options.programs = own_programs(arguments.file);
  if (!arguments.no_lead) options.lead = leader_here(study, arguments.file);
  if (!arguments.quiet) options.tell = [](const std::string& line) { write_error("bapi: " + line + "\n"); };
  const WorkerEnd end = work_on_study(study, options);
  if (options.tell) {
    options.tell(end == WorkerEnd::finished ? "the study has finished"
                                            : "left the study; its trials continue elsewhere");
  }
  return kDone;
}

}  // namespace

Command worker_command() {
  return {
      .name = "worker",
      .summary = "Train for a study in a database",
      .examples =
          "Examples:\n"
          "  bapi worker postgresql://ann@db/tuning#mlp --slots 4 --dir /shared/mlp\n"
          "  bapi worker mlp --checkpoints local      with $BAPI_STORAGE\n"
          "  bapi worker mlp \\\n"
          "    --fetch 'rclone copy store:mlp/$BAPI_TRIAL $BAPI_CHECKPOINT_DIR' \\\n"
          "    --push 'rclone copy $BAPI_CHECKPOINT_DIR store:mlp/$BAPI_TRIAL'\n\n"
          "Trains what the leader of the study orders, until the study has finished. On SIGTERM, SIGUSR1 or Ctrl-C it\n"
          "leaves: its programs get their grace period to save, and their trials continue elsewhere. If the study has\n"
          "no leader for 15 s, it starts bapi lead.\n"
          "Exit codes: 0 the study has finished, or it was told to leave; 2 wrong arguments, or another version of\n"
          "bapi leads the study; 3 the database could not be reached for as long as --patience says.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<WorkerArguments>();
        arguments.positional("STUDY", parsed->study, kDatabaseStudyHelp);
        arguments.option("-s,--slots",
                         parsed->slots,
                         "Trials to train at the same time; default: 1, or one for each GPU that the study uses");
        arguments.option(
            "--dir", parsed->dir, "Directory for checkpoints that all workers share; default: the study's");
        arguments.option("--checkpoints",
                         parsed->checkpoints,
                         "Where checkpoints are: shared (see --dir) or local; a trial that another worker continues "
                         "then starts again at epoch 1");
        declare_transfer(arguments, parsed->transfer);
        arguments.option("--scratch",
                         parsed->scratch,
                         "Directory for logs and reports of this worker; default: workers/HOST-PID in --dir");
        arguments.option("--file",
                         parsed->file,
                         "Study file whose programs to run (command, env, cwd, hooks), whatever the database says");
        arguments.option(
            "--patience", parsed->patience, "Time to keep trying when the database cannot be reached; default: 10m");
        arguments.flag("--no-lead", parsed->no_lead, "Never lead the study");
        arguments.flag("-q,--quiet", parsed->quiet, "Print errors only");
        return [parsed] { return worker(*parsed); };
      }};
}

}  // namespace bapi
