#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bapi/store/mailbox.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/event.h"

namespace bapi {

// Configurations that others ask for while somebody runs the study: letters, of a study in a directory those in
// NAME.bapi/wishes/, which are recorded
// before the next decision and then removed. A wish survives the death of both: its id is in the log, so it is never
// recorded twice.
class WishBox {
 public:
  explicit WishBox(const StudyDir& dir);
  explicit WishBox(std::unique_ptr<Mailbox> letters) : letters_(std::move(letters)) {}

  // Leaves a wish, whole or not at all. `now` (seconds since the Unix epoch) orders wishes. Throws StoreError.
  void put(ConfigEnqueued wish, double now) const;

  // What is there and not in the log yet, oldest first; `recorded` are the ids in the log. A letter that is no wish is
  // left alone.
  std::vector<ConfigEnqueued> waiting(const std::set<std::string>& recorded) const;

  // Removes the letters of wishes that are in the log.
  void clear(const std::set<std::string>& recorded) const;

 private:
  std::unique_ptr<Mailbox> letters_;
};

}  // namespace bapi
