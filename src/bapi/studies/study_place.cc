#include "bapi/studies/study_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "bapi/base/error.h"
#include "bapi/store/postgres_dispatch.h"
#include "bapi/store/postgres_mailbox.h"
#include "bapi/store/postgres_schema.h"
#include "bapi/store/postgres_store.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/store/study_lock.h"
#include "bapi/studies/study_view.h"

namespace bapi {
namespace {

std::shared_ptr<PostgresConnection> connection_to(const DatabaseStudy& study) {
  return std::make_shared<PostgresConnection>(study.database);
}

std::unique_ptr<Mailbox> box_of(const DatabaseStudy& study, const char* name) {
  const auto db = connection_to(study);
  const std::int64_t id = PostgresStore::open(db, study.name).id();
  return std::make_unique<PostgresMailbox>(db, id, name, kLargestLetter);
}

const PostgresStore& postgres_store(const Store& store) {
  const auto* there = dynamic_cast<const PostgresStore*>(&store);
  check(there != nullptr, "StudyPlace: the store is not of this place");
  return *there;
}

HeldStudy held(std::unique_ptr<SqliteStore> store, std::unique_ptr<StudyLock> lock) {
  store->write_under(*lock);
  return {.leadership = std::move(lock), .store = std::move(store)};
}

HeldStudy held(std::unique_ptr<PostgresStore> store,
               const std::shared_ptr<PostgresConnection>& db,
               const std::string& version) {
  auto lead = PostgresLead::take(db, store->id(), version);
  store->write_under(*lead);
  PostgresLead& there = *lead;
  return {.leadership = std::move(lead), .store = std::move(store), .dispatch = &there, .clock = &there.clock()};
}

// Below what is no directory nothing can be.
constexpr const char* kNowhere = "/dev/null";

}  // namespace

bool is_nowhere(const StudyDir& dir) { return dir.root().string().starts_with(std::string(kNowhere) + "/"); }

const StudyDir& StudyPlace::dir() const {
  require(!in_database(),
          fmt::format("{}: found a study in a database; this needs one in a directory, or the machine on which its "
                      "workers keep their files",
                      shown()));
  return std::get<StudyDir>(place_);
}

std::string StudyPlace::shown() const {
  return in_database() ? database().shown() : shown_path(std::get<StudyDir>(place_).root());
}

std::string StudyPlace::name() const {
  if (in_database()) return database().name;
  const std::filesystem::path& root = dir().root();
  return root.extension() == ".bapi" ? root.stem().string() : root.filename().string();
}

bool StudyPlace::exists() const {
  if (!in_database()) return is_study(dir());
  PostgresConnection db(database().database);
  return std::ranges::binary_search(studies_in(db), database().name);
}

std::unique_ptr<Store> StudyPlace::open_for_reading() const {
  if (in_database()) {
    return std::make_unique<PostgresStore>(PostgresStore::open(connection_to(database()), database().name));
  }
  return std::make_unique<SqliteStore>(SqliteStore::open(dir().database(), Access::read_only));
}

std::optional<Leader> StudyPlace::leader() const {
  if (!in_database()) return StudyLock::holder(dir().root());
  return leader(*open_for_reading());
}

std::optional<Leader> StudyPlace::leader(const Store& opened) const {
  if (!in_database()) return StudyLock::holder(dir().root());
  const PostgresStore& store = postgres_store(opened);
  return PostgresLead::leader(store.connection(), store.id());
}

WishBox StudyPlace::wishes() const { return in_database() ? WishBox(box_of(database(), "wishes")) : WishBox(dir()); }

RequestBox StudyPlace::requests() const {
  if (!in_database()) return RequestBox(dir().root());
  return {box_of(database(), "requests"), box_of(database(), "refusals")};
}

void StudyPlace::require_own() const {
  if (!in_database()) require_own_directory(dir().root());
}

StudyDir files_of(const StudyPlace& place, const Store& store) {
  if (!place.in_database()) return place.dir();
  const std::filesystem::path& files = postgres_store(store).files();
  return StudyDir(files.empty() ? std::filesystem::path(kNowhere) / place.database().name : files);
}

HeldStudy hold_study(const StudyPlace& place, const std::string& version) {
  if (place.in_database()) {
    const auto db = leader_connection(place.database().database);
    return held(std::make_unique<PostgresStore>(PostgresStore::open(db, place.database().name)), db, version);
  }
  place.require_own();
  auto lock = std::make_unique<StudyLock>(StudyLock::take(place.dir().root()));
  return held(std::make_unique<SqliteStore>(SqliteStore::open(place.dir().database(), Access::read_write)),
              std::move(lock));
}

std::optional<HeldStudy> create_study(const StudyPlace& place, const StudySpec& spec) {
  if (place.in_database()) {
    const auto db = leader_connection(place.database().database);
    migrate_schema(*db);
    if (place.exists()) return std::nullopt;
    return held(std::make_unique<PostgresStore>(PostgresStore::create(db, place.database().name, spec)),
                db,
                spec.provenance.bapi);
  }
  place.dir().create();
  auto lock = std::make_unique<StudyLock>(StudyLock::take(place.dir().root()));
  if (place.exists()) return std::nullopt;
  place.dir().require_no_trials();
  return held(std::make_unique<SqliteStore>(SqliteStore::create(place.dir().database(), spec)), std::move(lock));
}

void start_over(const StudyPlace& place, HeldStudy& study, const StudySpec& spec) {
  const StudyDir dir = files_of(place, *study.store);
  if (auto* store = dynamic_cast<PostgresStore*>(study.store.get())) {
    store->start_over(spec);
    dir.remove_trials();
    return;
  }
  study.store.reset();
  std::error_code error;
  for (const char* file : {"study.db", "study.db-wal", "study.db-shm"}) {
    const std::filesystem::path path = dir.root() / file;
    std::filesystem::remove(path, error);
    if (error) throw StoreError(fmt::format("{}: cannot be removed: {}", path.string(), error.message()));
  }
  dir.remove_trials();
  auto store = std::make_unique<SqliteStore>(SqliteStore::create(place.dir().database(), spec));
  store->write_under(*study.leadership);
  study.store = std::move(store);
}

void update_spec(HeldStudy& study, const StudySpec& spec) {
  if (auto* there = dynamic_cast<PostgresStore*>(study.store.get())) {
    there->update_spec(spec);
  } else {
    dynamic_cast<SqliteStore&>(*study.store).update_spec(spec);
  }
}

void set_files(HeldStudy& study, const std::filesystem::path& directory) {
  dynamic_cast<PostgresStore&>(*study.store).set_files(directory);
}

StudyForWork::StudyForWork(const DatabaseStudy& study)
    : db_(std::make_shared<PostgresConnection>(study.database, ConnectionOptions{.name = "bapi worker"})),
      name_(study.name),
      dispatch_(std::make_unique<PostgresWorkerDispatch>(db_, PostgresStore::open(db_, name_).id())) {}

StudySpec StudyForWork::spec() const { return PostgresStore::open(db_, name_).spec(); }

std::filesystem::path StudyForWork::files() const { return PostgresStore::open(db_, name_).files(); }

Workforce workforce_of(const DatabaseStudy& study) {
  const auto db = connection_to(study);
  const std::int64_t id = PostgresStore::open(db, study.name).id();
  return {.now = server_time(*db), .workers = workers_of(*db, id), .orders = orders_of(*db, id)};
}

std::vector<StudyPlace> studies_of(const DatabaseUrl& database) {
  PostgresConnection db(database);
  std::vector<StudyPlace> places;
  for (const std::string& name : studies_in(db)) {
    places.emplace_back(DatabaseStudy{.database = database, .name = name});
  }
  return places;
}

std::optional<DatabaseUrl> usual_storage() {
  const char* storage = std::getenv("BAPI_STORAGE");
  if (!storage || *storage == '\0') return std::nullopt;
  require(DatabaseUrl::is_one(storage),
          "BAPI_STORAGE: expected the address of a database, postgresql://user@host/database");
  return DatabaseUrl(storage);
}

void remember_storage(const DatabaseStudy& study) {
  ::setenv("BAPI_STORAGE", study.database.with_password().c_str(), 1);
}

}  // namespace bapi
