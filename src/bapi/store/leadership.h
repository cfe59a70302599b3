#pragma once

#include <optional>
#include <string>

#include "bapi/base/error.h"

namespace bapi {

// Somebody else leads the study by now, or may: nothing more can be written by this process.
class LeadershipLost : public StoreError {
 public:
  using StoreError::StoreError;
};

// The log is shorter than what this process has read or written of it: the database fell back to a copy that lacks the
// end. What was acknowledged since is gone; whoever leads reads the log anew.
class LogWentBack : public StoreError {
 public:
  using StoreError::StoreError;
};

// Who leads a study.
struct Leader {
  int pid = 0;
  std::string host = {};
  std::optional<double> since = {};  // seconds since the Unix epoch, where known
  bool operator==(const Leader&) const = default;
};

// The right of one process at a time to write the log of a study and to give orders to its workers: a file lock
// (StudyLock), or a lock of a database with a term that grows with every change of the leader. Taken by a factory of
// the implementation, given back by the destructor.
//
// The right may end unnoticed: the file was replaced, the connection was lost. So nothing relies on holding it; every
// write makes sure of it (`check_held`, or in the same statement), and one that comes too late changes nothing.
class Leadership {
 public:
  virtual ~Leadership() = default;

  // Throws LeadershipLost if somebody else may lead by now.
  virtual void check_held() const = 0;

  // Says that the leader lives. To be called at least every kSignOfLife seconds; costs nothing if it was called less
  // than a second ago. Throws as check_held does, and Shortage if nobody can be told for now.
  virtual void sign_of_life() {}
};

inline constexpr double kSignOfLife = 5.0;      // seconds
inline constexpr double kLeaderSilence = 15.0;  // seconds after which a leader that gave no sign is taken for dead

}  // namespace bapi
