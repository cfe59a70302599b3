#include "bapi/cli/cluster_commands.h"

#include <fmt/format.h>

#include <filesystem>

#include "bapi/base/error.h"
#include "bapi/studies/study_view.h"

namespace bapi {
namespace {

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace

void declare_transfer(Arguments& arguments, Transfer& transfer) {
  arguments.option("--fetch",
                   transfer.fetch,
                   "Shell command that fills the checkpoint directory of a trial, $BAPI_CHECKPOINT_DIR, before a "
                   "program continues it");
  arguments.option("--push",
                   transfer.push,
                   "Shell command that puts it where other workers fetch it, after a program has ended and within its "
                   "grace period");
}

void require_one_place(const Transfer& transfer, const std::string& directory) {
  require(transfer.fetch.empty() == transfer.push.empty(),
          "give --fetch and --push together: what one worker pushes, another one fetches");
  require(!transfer.given() || directory.empty(), "give --fetch and --push, or --dir: checkpoints are in one place");
}

StudyPlace storage_place(const std::string& storage, const std::string& name) {
  DatabaseStudy study = parse_database_study(storage);
  require(study.name.empty() || study.name == name,
          fmt::format("--storage names the study {}, but the study is called {}. Leave out what follows #, or change "
                      "--name",
                      study.name,
                      name));
  study.name = name;
  return study;
}

ClusterRun cluster_here(const DatabaseStudy& study, int slots) {
  require(slots >= 0, fmt::format("--workers is {}; expected 0 or more", slots));
  remember_storage(study);
  ClusterRun run;
  if (slots > 0) {
    run.worker =
        worker_process({this_program(), "worker", "#" + study.name, "--no-lead", "--slots", std::to_string(slots)});
  }
  return run;
}

std::vector<std::string> leader_here(const DatabaseStudy& study, const std::string& file) {
  std::vector<std::string> command{this_program(), "lead", "#" + study.name, "--quiet"};
  if (!file.empty()) command.insert(command.end(), {"--file", file});
  return command;
}

}  // namespace bapi
