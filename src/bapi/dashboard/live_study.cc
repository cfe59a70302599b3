#include "bapi/dashboard/live_study.h"

#include <sys/stat.h>

#include <algorithm>

#include "bapi/study/replay.h"

namespace bapi {
namespace {

std::uint64_t inode_of(const std::filesystem::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

bool changes_settings(const std::vector<StoredEvent>& events) {
  return std::any_of(events.begin(), events.end(), [](const StoredEvent& stored) {
    return std::holds_alternative<SettingsChanged>(stored.event);
  });
}

}  // namespace

void LiveStudy::follow(std::chrono::milliseconds at_least) {
  const std::lock_guard following(following_);
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < at_least) return;
  looked_ = now;
  // The controller first: one that ends in between has then written all of its events.
  std::optional<Leader> holder;
  std::string trouble;
  try {
    const std::uint64_t inode = place_.in_database() ? 0 : inode_of(place_.dir().database());
    const bool replaced = !store_ || inode != inode_;
    if (replaced) store_ = place_.open_for_reading();
    inode_ = inode;
    holder = place_.leader(*store_);
    if (replaced) {
      read_whole();
    } else {
      read_further();
    }
  } catch (const Error& error) {
    trouble = error.what();
    store_.reset();
  }
  const std::unique_lock lock(mutex_);
  holder_ = std::move(holder);
  trouble_ = std::move(trouble);
  if (!trouble_.empty()) view_.reset();
  if (view_) view_->controller = holder_ ? Controller::present : Controller::absent;
  changed_.notify_all();
}

void LiveStudy::read_whole() {
  Replay log = replay(store_->spec(), store_->read(0));
  const std::unique_lock lock(mutex_);
  view_.emplace(StudyView{.dir = files_of(place_, *store_),
                          .events = std::move(log.events),
                          .history = std::move(log.history),
                          .controller = Controller::absent,
                          .damage = std::move(log.damage),
                          .database = place_.in_database() ? place_.shown() : ""});
}

void LiveStudy::read_further() {
  if (view_->damage) return;
  EventLog log = store_->read(std::ssize(view_->events));  // nobody else writes to `view_`
  if (log.events.empty() && !log.damage) return;
  if (changes_settings(log.events)) {
    store_ = place_.open_for_reading();
    read_whole();
    return;
  }
  const std::unique_lock lock(mutex_);
  for (StoredEvent& stored : log.events) {
    if (const auto objection = view_->history.objection(stored.event)) {
      view_->damage = Damage{.seq = stored.seq, .reason = *objection};
      return;
    }
    view_->history.apply(stored.event);
    view_->events.push_back(std::move(stored));
  }
  view_->damage = std::move(log.damage);
}

bool LiveStudy::is_read() const {
  const std::shared_lock lock(mutex_);
  return view_ || !trouble_.empty();
}

bool LiveStudy::wait_until_read(std::chrono::seconds limit) const {
  std::shared_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return view_ || !trouble_.empty(); });
}

std::string LiveStudy::trouble() const {
  const std::shared_lock lock(mutex_);
  return trouble_;
}

std::optional<Leader> LiveStudy::holder() const {
  const std::shared_lock lock(mutex_);
  return holder_;
}

}  // namespace bapi
