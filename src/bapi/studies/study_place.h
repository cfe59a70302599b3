#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bapi/control/requests.h"
#include "bapi/store/database_url.h"
#include "bapi/store/leadership.h"
#include "bapi/store/store.h"
#include "bapi/store/study_dir.h"
#include "bapi/store/wish_box.h"

namespace bapi {

// Where a study is: a directory of this machine, or a PostgreSQL database. Everything that depends on which of the two
// it is, is here.
class StudyPlace {
 public:
  StudyPlace(StudyDir dir) : place_(std::move(dir)) {}           // NOLINT: a directory is a place
  StudyPlace(DatabaseStudy study) : place_(std::move(study)) {}  // NOLINT: and so is this

  bool in_database() const { return std::holds_alternative<DatabaseStudy>(place_); }

  // InvalidInput if the study is in a database: for what works on files.
  const StudyDir& dir() const;
  const DatabaseStudy& database() const { return std::get<DatabaseStudy>(place_); }

  std::string shown() const;  // as the user would type it
  std::string name() const;   // that of the study, as far as its place tells

  // These throw StoreError.
  bool exists() const;
  std::unique_ptr<Store> open_for_reading() const;
  std::optional<Leader> leader() const;                     // who runs the study now
  std::optional<Leader> leader(const Store& opened) const;  // the same, by way of a store of this place
  WishBox wishes() const;
  RequestBox requests() const;

  // A directory of another user is none to leave something in; StoreError.
  void require_own() const;

  bool operator==(const StudyPlace& other) const { return shown() == other.shown(); }

 private:
  std::variant<StudyDir, DatabaseStudy> place_;
};

// The files of the trials of a study: its directory, or the one that all workers of a database's study share. Where
// there is none, a directory that cannot exist: `is_nowhere`.
StudyDir files_of(const StudyPlace& place, const Store& store);
bool is_nowhere(const StudyDir& dir);

// A study in somebody's hands: nobody else writes to it meanwhile. Throws StoreError if somebody does.
struct HeldStudy {
  std::unique_ptr<Leadership> leadership;
  std::unique_ptr<Store> store;  // writes under the leadership
};
// `version` is that of the program; workers of a study in a database need the same.
HeldStudy hold_study(const StudyPlace& place, const std::string& version = "");

// A new study; nullopt if there is one by now.
std::optional<HeldStudy> create_study(const StudyPlace& place, const StudySpec& spec);

// Forgets everything about a study, which begins again with this specification.
void start_over(const StudyPlace& place, HeldStudy& study, const StudySpec& spec);

// Replaces the parts of the specification that may change while a study exists (SqliteStore::update_spec).
void update_spec(HeldStudy& study, const StudySpec& spec);

// All studies of a database, by name.
std::vector<StudyPlace> studies_of(const DatabaseUrl& database);

// The database of $BAPI_STORAGE, if there is one.
std::optional<DatabaseUrl> usual_storage();

}  // namespace bapi
