#pragma once

#include <string_view>

#include "bapi/base/rng.h"
#include "bapi/policy/decision.h"
#include "bapi/study/history.h"

namespace bapi {

// Decides what to do next.
//
// The answer depends on `history` and on the draws from `rng` alone: a fresh object asked with the same history and the
// same stream answers the same. Members may cache, never remember. A policy that predicts costs plans within
// history.budget().remaining() and answers Wait (something runs) or Finish (nothing runs) when nothing is affordable;
// one that does not predict leaves expected_cost at 0. Resume and Stop name trials that are
// `resumable()` only. Asked only while a worker is free and budget is left. What History::objection objects to is
// refused by the session before it is written: a policy's mistake ends the run and leaves the study intact.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  virtual Decision ask(const History& history, Rng& rng) = 0;
};

// The stream with which a policy is asked for the next decision: a study that is continued decides as it would have.
inline Rng decision_stream(const History& history) {
  return Rng(history.spec().seed).fork("decision", static_cast<std::uint64_t>(history.decisions()));
}

}  // namespace bapi
