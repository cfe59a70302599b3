#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bapi/store/study_dir.h"
#include "bapi/studies/study_place.h"
#include "bapi/study/event.h"
#include "bapi/study/history.h"
#include "bapi/study/progress.h"

namespace bapi {

// How every command explains its STUDY argument.
inline constexpr const char* kStudyHelp =
    "Study directory, name, study file or postgresql://.../DATABASE#NAME; default: the only study here";

// The directory of the study that `text` means: a study directory, a bare name (NAME.bapi in the current directory), a
// study file (its name, beside the current directory or beside the file), or, if empty, the only study of the current
// directory. Throws InvalidInput if there is none.
StudyDir locate_study(const std::string& text);

// The same also of studies in databases: postgresql://user@host/database#name, or without #name the only one there. The
// part before # may come from $BAPI_STORAGE: then "#name", or a name that no study here has, means a study there.
// InvalidInput for a password in the text.
StudyPlace locate_place(const std::string& text);

// The same; InvalidInput for a study in a directory.
StudyPlace database_place(const std::string& text);

bool is_study(const StudyDir& dir);

// A study as it stands now.
struct StudyState {
  StudyDir dir;  // with the files of its trials
  History history;
  Controller controller = Controller::absent;
  std::optional<Damage> damage = {};  // where the log ends for us; the history is as of before it
  std::string database = {};          // its address, if it is in one

  const StudySpec& spec() const { return history.spec(); }
  std::string shown() const;  // where it is, as the user would type it
};

// The same with the events that led there, read without disturbing its controller.
struct StudyView : StudyState {
  std::vector<StoredEvent> events;  // up to the damage
};
StudyView open_study(const std::string& text);

// A path as the user would type it: relative to the current directory if it is inside.
std::string shown_path(const std::filesystem::path& path);

}  // namespace bapi
