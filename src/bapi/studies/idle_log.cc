#include "bapi/studies/idle_log.h"

#include "bapi/study/replay.h"

namespace bapi {
namespace {

LogWriter writer_of(Store& store) {
  Replay log = replay(store.spec(), store.read(0));
  if (log.damage) throw store.refusal(*log.damage);
  return LogWriter(store, std::move(log.history), std::ssize(log.events));
}

}  // namespace

IdleLog::IdleLog(const StudyPlace& place) : study_(hold_study(place)), log_(writer_of(*study_.store)) {}

}  // namespace bapi
