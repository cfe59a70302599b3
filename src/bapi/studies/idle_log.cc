#include "bapi/studies/idle_log.h"

namespace bapi {
namespace {

StudyLock lock_of_own(const StudyDir& dir) {
  require_own_directory(dir.root());
  return StudyLock::take(dir.root());
}

}  // namespace

IdleLog::IdleLog(const StudyDir& dir)
    : lock_(lock_of_own(dir)),
      store_(SqliteStore::open(dir.database(), Access::read_write)),
      log_(replay(store_.spec(), store_.read(0))) {
  store_.write_under(lock_);
  if (log_.damage) throw store_.refusal(*log_.damage);
}

void IdleLog::append(std::span<const Event> facts, double now) {
  if (!store_.append(std::ssize(log_.events), facts, now, Durability::power)) throw store_.competition();
}

void IdleLog::decide(const Event& decision, double now) {
  if (!store_.append_decision(std::ssize(log_.events), decision, now)) throw store_.competition();
}

}  // namespace bapi
