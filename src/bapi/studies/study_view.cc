#include "bapi/studies/study_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/studies/study_file.h"
#include "bapi/study/replay.h"

namespace bapi {

namespace fs = std::filesystem;

bool is_study(const StudyDir& dir) {
  std::error_code ignored;
  return fs::exists(dir.database(), ignored);
}

namespace {

std::vector<std::string> studies_here() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(".", ignored)) {
    if (entry.path().extension() == ".bapi" && is_study(StudyDir(entry.path()))) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "there is no study here" : fmt::format("studies here: {}", fmt::join(names, ", "));
}

StudyDir only_study_here() {
  const std::vector<std::string> names = studies_here();
  require(!names.empty(), "there is no study in this directory (create one with bapi init and bapi run)");
  require(names.size() == 1, fmt::format("there are several studies: name one of them ({})", fmt::join(names, ", ")));
  return StudyDir(names.front());
}

// What lies behind a directory that may not be entered is not missing.
void refuse_if_closed(const fs::path& path) {
  std::error_code error;
  [[maybe_unused]] const fs::file_status status = fs::symlink_status(path, error);
  if (error != std::errc::permission_denied) return;
  throw StoreError(
      fmt::format("{}: cannot be accessed: permission denied. Ask its owner, or check the modes of its directories",
                  path.string()));
}

StudyDir study_of_file(const fs::path& file) {
  const std::string name = read_study_file(file.string()).name + ".bapi";
  for (const fs::path& place : {fs::path("."), file.parent_path()}) {
    const StudyDir dir(place / name);
    if (is_study(dir)) return dir;
  }
  throw InvalidInput(
      fmt::format("{}: its study {} does not exist yet (bapi run {} creates it)", file.string(), name, file.string()));
}

StudyDir locate_directory(const std::string& text) {
  if (text.empty()) return only_study_here();
  const fs::path path(text);
  std::error_code ignored;
  for (const fs::path& place : {path, path / "study.db", fs::path(text + ".bapi") / "study.db"})
    refuse_if_closed(place);
  if (fs::is_directory(path, ignored)) {
    const StudyDir dir(path);
    if (is_study(dir)) return dir;
    throw InvalidInput(
        fmt::format("{}: a directory without study.db is not a study; {}", text, listed(studies_here())));
  }
  if (const StudyDir named(text + ".bapi"); is_study(named)) return named;
  if (fs::is_regular_file(path, ignored)) return study_of_file(path);
  const std::vector<std::string> names = studies_here();
  const std::string near = nearest(text, names);
  throw InvalidInput(fmt::format(
      "{}: no such study or study file; {}", text, near.empty() ? listed(names) : "did you mean " + near + "?"));
}

bool is_here(const std::string& text) {
  if (text.empty()) return !studies_here().empty();
  std::error_code ignored;
  return fs::exists(text, ignored) || is_study(StudyDir(text + ".bapi"));
}

// A study of a database, by its name or as the only one.
StudyPlace study_there(DatabaseStudy study) {
  if (!study.name.empty()) return study;
  const std::vector<StudyPlace> places = studies_of(study.database);
  std::vector<std::string> names;
  for (const StudyPlace& place : places) names.push_back(place.database().name);
  require(!places.empty(), fmt::format("{}: there is no study in this database", study.shown()));
  require(places.size() == 1,
          fmt::format(
              "{}: there are several studies: add #NAME of one of them ({})", study.shown(), fmt::join(names, ", ")));
  return places.front();
}

}  // namespace

StudyPlace locate_place(const std::string& text) {
  if (DatabaseUrl::is_one(text)) return study_there(parse_database_study(text));
  const std::optional<DatabaseUrl> storage = usual_storage();
  if (text.starts_with('#')) {
    require(storage.has_value(),
            fmt::format("{}: expected the address of a database before #, or in BAPI_STORAGE", text));
    return study_there({.database = *storage, .name = text.substr(1)});
  }
  if (storage && !is_here(text)) return study_there({.database = *storage, .name = text});
  return locate_directory(text);
}

StudyPlace database_place(const std::string& text) {
  require(DatabaseUrl::is_one(text) || usual_storage() || is_here(text),
          fmt::format("{}: expected a study in a database: its address, postgresql://user@host/database#NAME, or its "
                      "name with the part before # in BAPI_STORAGE",
                      text));
  StudyPlace place = locate_place(text);
  require(place.in_database(),
          fmt::format("{}: found a study in a directory; workers on other machines need one in a database, "
                      "postgresql://user@host/database#NAME",
                      place.shown()));
  return place;
}

StudyDir locate_study(const std::string& text) { return locate_place(text).dir(); }

StudyView open_study(const std::string& text) {
  const StudyPlace place = locate_place(text);
  const std::unique_ptr<Store> store = place.open_for_reading();
  // The controller first: one that ends in between has then written all of its events.
  const bool driven = place.leader(*store).has_value();
  Replay log = replay(store->spec(), store->read(0));
  return {{.dir = files_of(place, *store),
           .history = std::move(log.history),
           .controller = driven ? Controller::present : Controller::absent,
           .damage = std::move(log.damage),
           .database = place.in_database() ? place.shown() : ""},
          std::move(log.events)};
}

std::string StudyState::shown() const { return database.empty() ? shown_path(dir.root()) : database; }

std::string shown_path(const fs::path& path) {
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  if (failed) return path.string();
  const fs::path relative = path.lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

}  // namespace bapi
