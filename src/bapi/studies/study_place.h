#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/control/requests.h"
#include "bapi/store/database_url.h"
#include "bapi/store/dispatch.h"
#include "bapi/store/store.h"
#include "bapi/store/study_dir.h"
#include "bapi/store/wish_box.h"

namespace bapi {

class PostgresConnection;

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
  std::unique_ptr<Store> store;        // writes under the leadership
  LeaderDispatch* dispatch = nullptr;  // to its workers, if it is in a database
  const Clock* clock = nullptr;        // of the database, if it is in one
};
// `version` is that of the program; workers of a study in a database need the same.
HeldStudy hold_study(const StudyPlace& place, const std::string& version = "");

// A new study; nullopt if there is one by now.
std::optional<HeldStudy> create_study(const StudyPlace& place, const StudySpec& spec);

// Forgets everything about a study, which begins again with this specification.
void start_over(const StudyPlace& place, HeldStudy& study, const StudySpec& spec);

// Replaces the parts of the specification that may change while a study exists (SqliteStore::update_spec).
void update_spec(HeldStudy& study, const StudySpec& spec);

// The directory for the files of the trials of a study in a database; see files_of.
void set_files(HeldStudy& study, const std::filesystem::path& directory);

// A study in a database as a worker sees it.
class StudyForWork {
 public:
  explicit StudyForWork(const DatabaseStudy& study);  // StoreError if there is none
  WorkerDispatch& dispatch() { return *dispatch_; }
  StudySpec spec() const;               // as it is now
  std::filesystem::path files() const;  // see files_of; empty: there is no such directory

 private:
  std::shared_ptr<PostgresConnection> db_;
  std::string name_;
  std::unique_ptr<WorkerDispatch> dispatch_;
};

// All workers that a study in a database has ever had, by their numbers, what they hold, and the time of the database.
struct Workforce {
  double now = 0.0;
  std::vector<WorkerRecord> workers = {};
  std::vector<WorkOrder> orders = {};  // by trial
};
Workforce workforce_of(const DatabaseStudy& study);

// All studies of a database, by name.
std::vector<StudyPlace> studies_of(const DatabaseUrl& database);

// The database of $BAPI_STORAGE, if there is one.
std::optional<DatabaseUrl> usual_storage();

// Puts the address of a study's database, with its password if it has one, into this process's environment: there other
// bapi of this machine find it, and nobody else. Training programs do not get it.
void remember_storage(const DatabaseStudy& study);

}  // namespace bapi
