#pragma once

#include <string>
#include <vector>

#include "bapi/studies/run_study.h"

namespace bapi {

inline constexpr const char* kDatabaseStudyHelp = "URL of the study, or its name in $BAPI_STORAGE";

// The place of a study in a database; InvalidInput if it is in a directory.
StudyPlace database_place(const std::string& text);

// Puts the address of a study's database, with its password if it has one, into this process's environment: there other
// bapi of this machine find it, and nobody else. Training programs do not get it.
void remember_storage(const DatabaseStudy& study);

// The study `name` of a database, as --storage gives it; InvalidInput if that names another study.
StudyPlace storage_place(const std::string& storage, const std::string& name);

// For a run of a study in a database whose worker of this machine has so many slots; 0: there is none. Remembers the
// storage.
ClusterRun cluster_here(const DatabaseStudy& study, int slots);

// The command of another bapi of this machine that leads the study, whose storage was remembered.
std::vector<std::string> leader_here(const DatabaseStudy& study);

}  // namespace bapi
