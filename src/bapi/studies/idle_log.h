#pragma once

#include "bapi/store/log_writer.h"
#include "bapi/studies/study_place.h"

namespace bapi {

// The log of a study that nobody runs, for those who add a fact to it between runs. Leads the study while it
// lives.
class IdleLog {
 public:
  // Throws InvalidInput or StoreError: another user's directory, a controller at work, a damaged log.
  explicit IdleLog(const StudyPlace& place);
  IdleLog(const IdleLog&) = delete;
  IdleLog& operator=(const IdleLog&) = delete;

  const StudySpec& spec() const { return history().spec(); }
  const History& history() const { return log_.history(); }

  // Adds facts, or a decision of the user, after everything that was read. Throws StoreError; LogicError if they cannot
  // follow.
  void append(std::span<const Event> facts, double now) { log_.record_for_good(facts, now); }
  void decide(const Event& decision, double now) { log_.decide(decision, now, "the user"); }

 private:
  HeldStudy study_;
  LogWriter log_;
};

}  // namespace bapi
