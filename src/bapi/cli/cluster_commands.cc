#include "bapi/cli/cluster_commands.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "bapi/base/error.h"
#include "bapi/studies/study_view.h"

namespace bapi {
namespace {

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace

StudyPlace database_place(const std::string& text) {
  StudyPlace place = locate_place(text);
  require(place.in_database(),
          fmt::format("{}: found a study in a directory; workers on other machines need one in a database, "
                      "postgresql://user@host/database#NAME",
                      place.shown()));
  return place;
}

void remember_storage(const DatabaseStudy& study) {
  ::setenv("BAPI_STORAGE", study.database.with_password().c_str(), 1);
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
    run.worker = {this_program(), "worker", "#" + study.name, "--no-lead", "--slots", std::to_string(slots)};
  }
  return run;
}

std::vector<std::string> leader_here(const DatabaseStudy& study) {
  return {this_program(), "lead", "#" + study.name, "--quiet"};
}

}  // namespace bapi
