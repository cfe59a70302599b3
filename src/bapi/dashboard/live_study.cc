#include "bapi/dashboard/live_study.h"

#include <sys/stat.h>

#include <algorithm>

#include "bapi/dashboard/heap.h"

namespace bapi {
namespace {

constexpr EventSeq kPiece = 5000;  // of a log, in memory at a time

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
  std::optional<Leader> leader;
  std::string trouble;
  try {
    const std::uint64_t inode = place_.in_database() ? 0 : inode_of(place_.dir().database());
    const bool replaced = !store_ || inode != inode_;
    if (replaced) store_ = place_.open_for_reading();
    inode_ = inode;
    leader = place_.leader(*store_);
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
  leader_ = std::move(leader);
  trouble_ = std::move(trouble);
  if (!trouble_.empty()) study_.reset();
  if (study_) study_->controller = leader_ ? Controller::present : Controller::absent;
  changed_.notify_all();
}

void LiveStudy::read_whole() {
  ShownStudy study{{.dir = files_of(place_, *store_),
                    .history = History(store_->spec()),
                    .controller = Controller::absent,
                    .damage = {},
                    .database = place_.in_database() ? place_.shown() : ""}};
  bool more = true;
  while (more && !study.damage) {
    const EventLog piece = store_->read(study.log.last(), kPiece);
    study.take(piece.events, piece.damage);
    more = std::ssize(piece.events) == kPiece;
  }
  {
    const std::unique_lock lock(mutex_);
    study_.emplace(std::move(study));
  }
  give_back_memory();
}

void LiveStudy::read_further() {
  bool more = true;
  while (more && !study_->damage) {  // nobody else writes to `study_`
    const EventLog piece = store_->read(study_->log.last(), kPiece);
    if (changes_settings(piece.events)) {
      store_ = place_.open_for_reading();
      return read_whole();
    }
    more = std::ssize(piece.events) == kPiece;
    if (piece.events.empty() && !piece.damage) return;
    const std::unique_lock lock(mutex_);
    study_->take(piece.events, piece.damage);
  }
}

bool LiveStudy::is_read() const {
  const std::shared_lock lock(mutex_);
  return study_ || !trouble_.empty();
}

bool LiveStudy::wait_until_read(std::chrono::seconds limit) const {
  std::shared_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return study_ || !trouble_.empty(); });
}

std::string LiveStudy::trouble() const {
  const std::shared_lock lock(mutex_);
  return trouble_;
}

std::optional<Leader> LiveStudy::leader() const {
  const std::shared_lock lock(mutex_);
  return leader_;
}

}  // namespace bapi
