#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bapi/store/postgres_connection.h"
#include "bapi/store/store.h"

namespace bapi {

class PostgresLead;

// A study in a PostgreSQL database. Every write says in which term it is made and after which event it comes, so that a
// leader who was replaced writes nothing. An append that a lost connection has left open (ConnectionLost) may be
// repeated: what had arrived is recognised, and is not written twice. Instants are kept to the microsecond.
class PostgresStore : public Store {
 public:
  // Makes the study, and the tables if there are none. InvalidInput if there is a study of this name already.
  static PostgresStore create(std::shared_ptr<PostgresConnection> db, const std::string& name, const StudySpec& spec);

  // StoreError if there is no such study. Writes in the term that the study has now.
  static PostgresStore open(std::shared_ptr<PostgresConnection> db, const std::string& name);

  std::string place() const override { return place_; }
  const StudySpec& spec() const override { return spec_; }
  using Store::read;
  EventLog read(EventSeq after, EventSeq most) const override;
  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override;
  bool append_decision(EventSeq last, const Event& decision, double at) override;

  // From now on writes are made in the term of `lead`, which must outlive the store, and facts are written with what it
  // has to settle. LeadershipLost if the term has passed.
  void write_under(PostgresLead& lead);

  // Replaces the parts of the specification that may change while a study exists (SqliteStore::update_spec).
  // StoreError if the term has passed.
  void update_spec(const StudySpec& spec);

  // Forgets all events, orders and deliveries; the study begins again with this specification.
  void start_over(const StudySpec& spec);

  // The directory that all workers share, with the files of the trials; empty if there is none.
  const std::filesystem::path& files() const { return files_; }
  void set_files(const std::filesystem::path& directory);  // StoreError if the term has passed

  std::int64_t id() const { return id_; }  // of its row
  PostgresConnection& connection() const { return *db_; }

 private:
  PostgresStore(std::shared_ptr<PostgresConnection> db, DatabaseStudy place);
  void load(const std::string& name);
  bool write(EventSeq last, std::span<const Event> events, double at, int decisions);
  bool write_once(EventSeq last, std::span<const Event> events, double at, int decisions);
  void require_row(const SqlRows& rows) const;
  bool has_arrived(EventSeq last, std::span<const Event> events) const;

  std::shared_ptr<PostgresConnection> db_;
  std::string place_;
  std::int64_t id_ = 0;
  std::int64_t term_ = 0;
  PostgresLead* lead_ = nullptr;
  StudySpec spec_;
  std::filesystem::path files_;
  bool unsure_ = false;  // whether the last write has arrived
};

// The names of the studies of a database, in their order; none if it has no tables.
std::vector<std::string> studies_in(PostgresConnection& db);

}  // namespace bapi
