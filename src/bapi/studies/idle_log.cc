#include "bapi/studies/idle_log.h"

#include "bapi/study/replay.h"

namespace bapi {
namespace {

StudyLock lock_of_own(const StudyDir& dir) {
  require_own_directory(dir.root());
  return StudyLock::take(dir.root());
}

LogWriter writer_of(SqliteStore& store) {
  Replay log = replay(store.spec(), store.read(0));
  if (log.damage) throw store.refusal(*log.damage);
  return LogWriter(store, std::move(log.history), std::ssize(log.events));
}

}  // namespace

IdleLog::IdleLog(const StudyDir& dir)
    : lock_(lock_of_own(dir)), store_(SqliteStore::open(dir.database(), Access::read_write)), log_(writer_of(store_)) {
  store_.write_under(lock_);
}

}  // namespace bapi
