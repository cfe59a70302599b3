#include "study_handle.h"

#include <fmt/format.h>
#include <unistd.h>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/studies/study_opening.h"
#include "bapi/study/codec.h"
#include "bapi/study/progress.h"

namespace bapi::python {

std::unique_ptr<StudyHandle> StudyHandle::drive(const StudySpec& spec,
                                                const std::optional<std::filesystem::path>& root,
                                                std::vector<std::string>& notes) {
  if (!root) spec.validate();
  std::unique_ptr<Policy> policy = make_policy(spec.policy);
  std::unique_ptr<StudyHandle> handle(new StudyHandle);
  handle->owner_ = ::getpid();
  History history(spec);
  if (root) {
    handle->dir_ = StudyDir(*root);
    OpenedStudy study =
        open_or_create_study(*handle->dir_, spec, [&](const std::string& line) { notes.push_back(line); });
    handle->lock_ = std::move(study.lock);
    auto store = std::make_unique<SqliteStore>(std::move(study.store));
    store->write_under(*handle->lock_);
    handle->store_ = std::move(store);
    handle->events_ = std::move(study.events);
    history = std::move(study.history);
  } else {
    handle->store_ = std::make_unique<MemoryStore>(spec);
  }
  handle->policy_ = std::move(policy);
  handle->session_ = std::make_unique<Session>(
      *handle->store_, *handle->policy_, handle->clock_, past_of(std::move(history), handle->events_));
  handle->session_->listen([&events = handle->events_](const StoredEvent& stored) { events.push_back(stored); });
  handle->loop_ = std::make_unique<AskTell>(*handle->session_, handle->clock_);
  return handle;
}

std::unique_ptr<StudyHandle> StudyHandle::look(const std::string& text) {
  std::unique_ptr<StudyHandle> handle(new StudyHandle);
  handle->owner_ = ::getpid();
  handle->dir_ = locate_study(text);
  handle->store_ = std::make_unique<SqliteStore>(SqliteStore::open(handle->dir_->database(), Access::read_only));
  return handle;
}

// Closing a database that was carried across a fork could damage it: the child leaves its copy alone.
StudyHandle::~StudyHandle() {
  if (owner_ == ::getpid()) return;
  [[maybe_unused]] const auto* loop = loop_.release();
  [[maybe_unused]] const auto* session = session_.release();
  [[maybe_unused]] const auto* policy = policy_.release();
  [[maybe_unused]] const auto* store = store_.release();
}

void StudyHandle::check_process() const {
  if (owner_ == ::getpid()) return;
  throw Error(
      fmt::format("this study was opened by process {}; a process forked from it cannot use it. Open it anew, or "
                  "start workers with the method \"spawn\"",
                  owner_));
}

StudyHandle::Turn StudyHandle::take_turn() {
  check_process();
  Turn turn(mutex_);
  if (tuner_ && *tuner_ != std::this_thread::get_id()) {
    throw Error("this study is being tuned by another thread; bapi.open_study looks at one on disk meanwhile");
  }
  return turn;
}

void StudyHandle::abandon() {
  if (owner_ != ::getpid()) lock_.reset();
}

AskTell& StudyHandle::loop() {
  require(loop_ != nullptr, "this study is only looked at; bapi.tune and bapi.Study go on with it");
  return *loop_;
}

TuneSummary StudyHandle::tune(WorkerPool& workers, const TuneOptions& options) {
  Turn turn = take_turn();
  loop();
  tuner_ = std::this_thread::get_id();
  turn.unlock();
  struct Tuning {
    StudyHandle& study;
    ~Tuning() {
      const Turn last(study.mutex_);
      study.tuner_.reset();
    }
  };
  const Tuning tuning{*this};
  WorkerEvaluator evaluator(spec(), workers, clock_);
  return bapi::tune(*session_, evaluator, clock_, options);
}

const History& StudyHandle::history() {
  if (session_) return session_->history();
  if (!seen_) seen_ = replay(store_->spec(), events_);
  if (!damage_) read_on();
  return *seen_;
}

// A damaged study is shown as it was before the damage.
void StudyHandle::read_on() {
  EventLog log = store_->read(std::ssize(events_));
  for (StoredEvent& stored : log.events) {
    if (std::optional<std::string> objection = seen_->objection(stored.event)) {
      damage_ = {.seq = stored.seq, .kind = std::string(kind_of(stored.event)), .reason = std::move(*objection)};
      return;
    }
    seen_->apply(stored.event);
    events_.push_back(std::move(stored));
  }
  damage_ = std::move(log.damage);
}

std::optional<Damage> StudyHandle::damage() {
  const Turn turn = take_turn();
  history();
  return damage_;
}

Controller StudyHandle::controller() const {
  const bool driven = loop_ || (dir_ && StudyLock::holder(dir_->root()).has_value());
  return driven ? Controller::present : Controller::absent;
}

StudyView StudyHandle::view() {
  const Turn turn = take_turn();
  const Controller now = controller();  // first: one that ends in between has then written all of its events
  History seen = history();
  return {.dir = dir_.value_or(StudyDir(".")),
          .events = events_,
          .history = std::move(seen),
          .controller = now,
          .damage = damage_};
}

void StudyHandle::close() {
  const Turn turn = take_turn();
  if (!loop_) return;
  loop_->pause("closed");
  loop_.reset();
  session_.reset();
  policy_.reset();
  lock_.reset();
}

}  // namespace bapi::python
