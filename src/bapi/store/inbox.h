#pragma once

#include <set>
#include <string>
#include <vector>

#include "bapi/store/study_dir.h"
#include "bapi/study/event.h"

namespace bapi {

// Requests to a study that somebody else is running: the one who holds its lock is the only writer of its log, so
// others leave a file in NAME.bapi/wishes/, which is recorded before the next decision and then removed. A request
// survives the death of both: its id is in the log, so it is never recorded twice.
class Inbox {
 public:
  explicit Inbox(const StudyDir& dir) : dir_(dir.root() / "wishes") {}

  // Leaves a request, whole or not at all. `now` (seconds since the Unix epoch) orders requests. Throws StoreError.
  void put(ConfigEnqueued request, double now) const;

  // What is there and not in the log yet, oldest first; `recorded` are the ids in the log. A file that is no request is
  // left alone.
  std::vector<ConfigEnqueued> waiting(const std::set<std::string>& recorded) const;

  // Removes the files of requests that are in the log.
  void clear(const std::set<std::string>& recorded) const;

 private:
  std::filesystem::path dir_;
};

}  // namespace bapi
