#pragma once

#include <string>
#include <vector>

#include "bapi/cli/arguments.h"
#include "bapi/process/transfer.h"
#include "bapi/studies/run_study.h"

namespace bapi {

inline constexpr const char* kDatabaseStudyHelp = "URL of the study, or its name in $BAPI_STORAGE";

// --fetch and --push.
void declare_transfer(Arguments& arguments, Transfer& transfer);

// InvalidInput unless both of the commands are given, or none, and not a directory (--dir) besides.
void require_one_place(const Transfer& transfer, const std::string& directory);

// The study `name` of a database, as --storage gives it; InvalidInput if that names another study.
StudyPlace storage_place(const std::string& storage, const std::string& name);

// For a run of a study in a database whose worker of this machine has so many slots; 0: there is none. Remembers the
// storage.
ClusterRun cluster_here(const DatabaseStudy& study, int slots);

// The command of another bapi of this machine that leads the study, whose storage was remembered; with the hooks of
// `file` alone, unless it is empty.
std::vector<std::string> leader_here(const DatabaseStudy& study, const std::string& file);

}  // namespace bapi
