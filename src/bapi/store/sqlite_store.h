#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "bapi/store/leadership.h"
#include "bapi/store/store.h"

namespace bapi {

enum class Access { read_only, read_write };

// A study in one SQLite file (WAL). Any number of readers beside one writer.
class SqliteStore : public Store {
 public:
  // Creates the file; InvalidInput if it exists already. A crash leaves either no study or a whole one.
  static SqliteStore create(const std::filesystem::path& file, const StudySpec& spec);
  // StoreError if there is no such file, it is not a study, or it was written by a newer version.
  static SqliteStore open(const std::filesystem::path& file, Access access);

  // A copy of the study at `file` whose log ends with event `last`. What follows is kept in the copy's table set_aside;
  // returns how many events that are. `copy` must not exist.
  static EventSeq copy_until(const std::filesystem::path& file, const std::filesystem::path& copy, EventSeq last);

  SqliteStore(SqliteStore&&) noexcept;
  SqliteStore& operator=(SqliteStore&&) noexcept;
  ~SqliteStore() override;

  std::string place() const override;
  const StudySpec& spec() const override;
  using Store::read;
  EventLog read(EventSeq after, EventSeq most) const override;
  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override;
  bool append_decision(EventSeq last, const Event& decision, double at) override;

  // From now on every write first makes sure that `leadership`, which must outlive the store, is still held.
  void write_under(const Leadership& leadership);

  // How often the log of any study was read from its beginning in this process: opening a study should cost one.
  static std::int64_t whole_reads();

  // Replaces the parts of the specification that may change while a study exists (workers, deadline, grace, ...); the
  // budget changes by a BudgetChanged event instead. The caller decides what may change.
  void update_spec(const StudySpec& spec);

 private:
  struct Impl;
  explicit SqliteStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bapi
