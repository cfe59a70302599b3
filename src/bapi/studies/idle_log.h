#pragma once

#include "bapi/store/log_writer.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/store/study_dir.h"
#include "bapi/store/study_lock.h"

namespace bapi {

// The log of a study that nobody runs, for those who add a fact to it between runs. Holds the study's lock while it
// lives.
class IdleLog {
 public:
  // Throws InvalidInput or StoreError: another user's directory, a controller at work, a damaged log.
  explicit IdleLog(const StudyDir& dir);
  IdleLog(const IdleLog&) = delete;  // the store knows its lock by address
  IdleLog& operator=(const IdleLog&) = delete;

  const StudySpec& spec() const { return history().spec(); }
  const History& history() const { return log_.history(); }

  // Adds facts, or a decision of the user, after everything that was read. Throws StoreError; LogicError if they cannot
  // follow.
  void append(std::span<const Event> facts, double now) { log_.record_for_good(facts, now); }
  void decide(const Event& decision, double now) { log_.decide(decision, now, "the user"); }

 private:
  StudyLock lock_;
  SqliteStore store_;
  LogWriter log_;
};

}  // namespace bapi
