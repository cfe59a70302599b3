#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bapi/studies/study_place.h"
#include "bapi/study/history.h"
#include "bapi/study/spec.h"

namespace bapi {

// What may be changed in a study that exists, as people write it. Every part overrides the specification.
struct StudyChanges {
  std::optional<std::string> budget = {};    // a total: "2h", "500 epochs"
  std::optional<std::string> deadline = {};  // "1h"
  std::optional<int> workers = {};

  bool empty() const { return !budget && !deadline && !workers; }
};

// Throws InvalidInput. A budget in the unit that the study has keeps its meter and price.
void apply(const StudyChanges& changes, StudySpec& spec);

// A study in the hands of its controller: locked, open for writing, its log read once.
struct OpenedStudy {
  StudyPlace place;
  StudyDir dir;  // with the files of its trials
  HeldStudy held;
  std::vector<StoredEvent> events;
  History history;

  Store& store() const { return *held.store; }
};

// A line about something that was done: created, changed.
using Tell = std::function<void(const std::string&)>;

// The study at `place`: a new one with this specification, or the one that is there, once it agrees. What may change
// (spec_change.h) is taken over and noted in the log, and a budget that differs becomes its total. A study in which
// nothing was ever reported is made anew if anything else was changed. Throws InvalidInput, before anything is made, if
// the specification is wrong, or that lists what may not change; StoreError if another controller is at work.
//
// `home` is where the programs of a new study run unless the specification says so.
OpenedStudy open_or_create_study(const StudyPlace& place,
                                 const StudySpec& spec,
                                 const Tell& tell,
                                 const std::filesystem::path& home = {});

// Where the programs of a study run: `cwd`, or if there is no such directory the one that has its place beside a study
// that was moved. Empty: where this process is.
std::filesystem::path working_directory(const StudySpec& spec, const StudyDir& dir);

// A study in a database that must be there, exactly as it is: the leader that it had is gone.
OpenedStudy take_over_study(const DatabaseStudy& study, const std::string& version);

// Where the files of the trials of a study in a database are from now on, if it has no such place yet. Makes the
// directory, unless they are elsewhere.
void take_files(OpenedStudy& study, const std::filesystem::path& directory);

// A study that must be there, with its own specification but for `changes`; `version` is that of the program.
OpenedStudy reopen_study(const StudyPlace& place,
                         const StudyChanges& changes,
                         const std::string& version,
                         const Tell& tell);

}  // namespace bapi
