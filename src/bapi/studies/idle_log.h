#pragma once

#include <span>

#include "bapi/store/sqlite_store.h"
#include "bapi/store/study_dir.h"
#include "bapi/store/study_lock.h"
#include "bapi/study/replay.h"

namespace bapi {

// The log of a study that nobody runs, for those who add a fact to it between runs. Holds the study's lock while it
// lives.
class IdleLog {
 public:
  // Throws InvalidInput or StoreError: another user's directory, a controller at work, a damaged log.
  explicit IdleLog(const StudyDir& dir);
  IdleLog(const IdleLog&) = delete;  // the store knows its lock by address
  IdleLog& operator=(const IdleLog&) = delete;

  const StudySpec& spec() const { return log_.history.spec(); }
  const History& history() const { return log_.history; }

  // Adds facts, or a decision of the user, after everything that was read; once. Throws StoreError.
  void append(std::span<const Event> facts, double now);
  void decide(const Event& decision, double now);

 private:
  StudyLock lock_;
  SqliteStore store_;
  Replay log_;
};

}  // namespace bapi
