#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/cli/cluster_commands.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/slurm_script.h"

extern char** environ;

namespace bapi {

namespace {

struct SubmitOptions {
  std::string system;
  std::string study;
  std::optional<int> workers;
  std::optional<int> chain;
  std::optional<int> slots;
  std::string dir;
  Transfer transfer;
  std::string program;
  bool dry_run = false;
  std::vector<std::string> sbatch;
};

SlurmArray array_of(const SubmitOptions& options) {
  require(options.system == "slurm", fmt::format("{}: expected slurm", options.system));
  // Every user of the cluster can read a job's script, so the address is one without a password.
  const DatabaseStudy study = database_place(options.study).database();
  const std::string program =
      options.program.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : options.program;
  SlurmArray array{.name = "bapi-" + study.name,
                   .command = {program, "worker", study.shown()},
                   .workers = options.workers.value_or(1),
                   .chain = options.chain.value_or(1),
                   .options = options.sbatch};
  if (options.slots) {
    require(*options.slots >= 1, fmt::format("--slots is {}; expected 1 or more", *options.slots));
    array.command.insert(array.command.end(), {"--slots", std::to_string(*options.slots)});
  }
  require_one_place(options.transfer, options.dir);
  if (!options.dir.empty()) {
    array.command.insert(array.command.end(),
                         {"--dir", std::filesystem::absolute(options.dir).lexically_normal().string()});
  }
  if (options.transfer.given()) {
    array.command.insert(array.command.end(), {"--fetch", options.transfer.fetch, "--push", options.transfer.push});
  }
  return array;
}

// Gives the script to sbatch, which prints the number of the job. Its exit code; nullopt if there is no sbatch.
std::optional<int> run_sbatch(const std::string& script) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, read_end.get(), STDIN_FILENO);
  std::string program = "sbatch";
  char* const arguments[] = {program.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return std::nullopt;
  require(error == 0, fmt::format("cannot run sbatch: {}", std::strerror(error)));
  read_end.close();
  for (std::size_t sent = 0; sent < script.size();) {
    const ssize_t some = ::write(write_end.get(), script.data() + sent, script.size() - sent);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) break;  // it ended without having read everything, and has said why
    sent += static_cast<std::size_t>(some);
  }
  write_end.close();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int submit(const SubmitOptions& options) {
  const SlurmArray array = array_of(options);
  const std::string script = slurm_script(array);
  if (options.dry_run) {
    print(script);
    return kDone;
  }
  const std::optional<int> code = run_sbatch(script);
  require(code.has_value(),
          "there is no sbatch here; run this on a machine of the cluster, or add --dry-run to get the script");
  require(*code == 0,
          fmt::format("sbatch refused the job (exit code {}), see above. An array of {} elements needs a MaxArraySize "
                      "above that (scontrol show config); a lower --chain makes it smaller",
                      *code,
                      array.workers * array.chain));
  return kDone;
}

}  // namespace

Command submit_command() {
  return {.name = "submit",
          .summary = "Submit workers of a study to a Slurm cluster",
          .examples =
              "Examples:\n"
              "  bapi submit slurm postgresql://ann@db/tuning#mlp --workers 64 \\\n"
              "    --chain 20 --dir /shared/mlp -- --gres=gpu:1 --time=4:00:00\n"
              "  bapi submit slurm mlp --workers 8 --dry-run -- --time=1:00:00\n\n"
              "Submits one job array: WORKERS jobs at a time, each of which runs bapi\n"
              "worker. When the time of a job is over, the next one of the array takes\n"
              "its place, up to CHAIN times. Jobs that find the study finished end at\n"
              "once. What follows -- are options of sbatch. With $BAPI_STORAGE, the name\n"
              "of the study is enough.\n"
              "Exit codes: 0 submitted, 2 no sbatch, or it refused the job.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto options = std::make_shared<SubmitOptions>();
            arguments.positional("SYSTEM", options->system, "Where to submit: slurm");
            arguments.positional("STUDY", options->study, kDatabaseStudyHelp);
            arguments.option("--workers", options->workers, "Workers at a time (default 1)");
            arguments.option("--chain", options->chain, "Jobs that follow one another for each worker (default 1)");
            arguments.option("--slots", options->slots, "Trials that each worker trains at a time (default 1)");
            arguments.option("--dir", options->dir, "Directory for checkpoints, shared by all nodes");
            declare_transfer(arguments, options->transfer);
            arguments.option("--program", options->program, "The program bapi on the nodes (default: this one)");
            arguments.flag("--dry-run", options->dry_run, "Print the script instead of submitting it");
            arguments.after_dashes(options->sbatch);
            return [options] { return submit(*options); };
          }};
}

}  // namespace bapi
