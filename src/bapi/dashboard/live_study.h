#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

#include "bapi/dashboard/log_digest.h"
#include "bapi/store/leadership.h"
#include "bapi/store/store.h"

namespace bapi {

// A study that follows its log: read once, a piece at a time, then only what was written since. For many threads at a
// time.
class LiveStudy {
 public:
  LiveStudy(std::string id, StudyPlace place) : id_(std::move(id)), place_(std::move(place)) {}

  const std::string& id() const { return id_; }
  const StudyPlace& place() const { return place_; }

  // Takes up what was written since the last look, unless somebody has looked within `at_least` before. Reads a log
  // that was replaced, or whose settings were changed, from its beginning. What the store has to complain about is
  // kept: see `trouble`.
  void follow(std::chrono::milliseconds at_least = std::chrono::milliseconds(0));

  bool is_read() const;                                    // at least once
  bool wait_until_read(std::chrono::seconds limit) const;  // whether it is by then
  std::string trouble() const;                             // why it cannot be read; empty if it can
  std::optional<Leader> leader() const;

  // Calls `look` with the study as it stands; it does not change meanwhile. Throws StoreError if it could not be read.
  template <typename Look>
  auto read(Look look) const {
    const std::shared_lock lock(mutex_);
    if (!study_) throw StoreError(trouble_.empty() ? "the study is still being read" : trouble_);
    return look(*study_);
  }

 private:
  void read_whole();
  void read_further();

  const std::string id_;
  const StudyPlace place_;

  std::mutex following_;  // one thread at a time follows; below only it touches
  std::unique_ptr<Store> store_;
  std::uint64_t inode_ = 0;
  std::chrono::steady_clock::time_point looked_{};

  mutable std::shared_mutex mutex_;  // of what others read
  mutable std::condition_variable_any changed_;
  std::optional<ShownStudy> study_;
  std::optional<Leader> leader_;
  std::string trouble_;
};

}  // namespace bapi
