#include "study_handle.h"

#include <fmt/format.h>
#include <unistd.h>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/studies/study_opening.h"
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

void StudyHandle::abandon() {
  if (owner_ != ::getpid()) lock_.reset();
}

AskTell& StudyHandle::loop() {
  require(loop_ != nullptr, "this study is only looked at; bapi.tune and bapi.Study go on with it");
  return *loop_;
}

TuneSummary StudyHandle::tune(WorkerPool& workers, const TuneOptions& options) {
  check_process();
  loop();
  WorkerEvaluator evaluator(spec(), workers, clock_);
  return bapi::tune(*session_, evaluator, clock_, options);
}

const History& StudyHandle::history() {
  if (session_) return session_->history();
  if (!seen_) seen_ = replay(store_->spec(), events_);
  for (StoredEvent& stored : store_->read(std::ssize(events_)).events) {
    if (seen_->objection(stored.event)) break;  // the study is shown as it was before the damage
    seen_->apply(stored.event);
    events_.push_back(std::move(stored));
  }
  return *seen_;
}

Controller StudyHandle::controller() const {
  const bool driven = loop_ || (dir_ && StudyLock::holder(dir_->root()).has_value());
  return driven ? Controller::present : Controller::absent;
}

StudyView StudyHandle::view() {
  check_process();
  const std::lock_guard guard(mutex_);
  const Controller now = controller();  // first: one that ends in between has then written all of its events
  History seen = history();
  return {.dir = dir_.value_or(StudyDir(".")), .events = events_, .history = std::move(seen), .controller = now};
}

void StudyHandle::close() {
  check_process();
  const std::lock_guard guard(mutex_);
  if (!loop_) return;
  loop_->pause("closed");
  loop_.reset();
  session_.reset();
  policy_.reset();
  lock_.reset();
}

}  // namespace bapi::python
