#include "study_handle.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"
#include "bapi/process/gpus.h"
#include "bapi/store/memory_store.h"
#include "bapi/store/patient_store.h"
#include "bapi/store/study_lock.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/earlier_studies.h"
#include "bapi/studies/study_add.h"
#include "bapi/studies/study_opening.h"
#include "bapi/study/codec.h"
#include "bapi/study/progress.h"

namespace bapi::python {

namespace py = pybind11;

namespace {

// That nobody has asked for; a study without callbacks keeps no more.
constexpr std::size_t kMostNotices = 10000;

}  // namespace

std::unique_ptr<StudyHandle> StudyHandle::drive(const StudySpec& given,
                                                const std::optional<std::filesystem::path>& root,
                                                std::vector<std::string>& notes) {
  StudySpec spec = with_workers_for_gpus(given, Machine::this_one());
  gpus_of(spec, Machine::this_one());  // misses them before anything is made
  std::unique_ptr<Policy> policy = make_policy(spec.policy);
  if (!root) {
    spec.validate();
    spec = with_earlier_studies(std::move(spec), std::nullopt, {});
  }
  std::unique_ptr<StudyHandle> handle(new StudyHandle);
  handle->owner_ = ::getpid();
  History history(spec);
  if (root) {
    handle->dir_ = StudyDir(*root);
    OpenedStudy study =
        open_or_create_study(*handle->dir_, spec, [&](const std::string& line) { notes.push_back(line); });
    handle->leadership_ = std::move(study.held.leadership);
    handle->disk_ = std::move(study.held.store);
    handle->store_ = handle->waiting_store();
    handle->events_ = std::move(study.events);
    history = std::move(study.history);
  } else {
    handle->store_ = std::make_unique<MemoryStore>(spec);
  }
  handle->policy_ = std::move(policy);
  handle->session_ = std::make_unique<Session>(
      *handle->store_, *handle->policy_, handle->clock_, past_of(std::move(history), handle->events_));
  handle->news_.emplace(handle->session_->history());
  handle->session_->listen([self = handle.get()](const StoredEvent& stored) {
    self->events_.push_back(stored);
    if (self->saw_) self->saw_(stored.event);
    self->note_news(stored.event, self->session_->history());
  });
  if (root) handle->session_->serve(WishBox(*handle->dir_));
  handle->loop_ = std::make_unique<AskTell>(*handle->session_, handle->training_clock_);
  if (root) {
    handle->loop_->attend_to([self = handle.get()] { return self->attend(); });
    handle->loop_->keep_models([&savers = handle->savers_](TrialId trial, const EpochResult& result) {
      if (const auto saver = savers.find(trial); saver != savers.end()) {
        saver->second.reported(result.epoch, result.value);
      }
    });
  }
  return handle;
}

// While it waits, nothing is charged: a trial in this process waits in its call, workers are stopped. Ctrl-C ends it.
std::unique_ptr<Store> StudyHandle::waiting_store() {
  return std::make_unique<PatientStore>(*disk_,
                                        Patience{.remark =
                                                     [](const std::string& why) {
                                                       const py::gil_scoped_acquire lock;
                                                       if (PyErr_WarnEx(PyExc_RuntimeWarning, why.c_str(), 1) != 0)
                                                         throw py::error_already_set();
                                                     },
                                                 .pause =
                                                     [this] {
                                                       training_clock_.stop();
                                                       if (evaluator_) evaluator_->pause();
                                                     },
                                                 .go_on =
                                                     [this] {
                                                       training_clock_.go_on();
                                                       if (evaluator_) evaluator_->go_on();
                                                     },
                                                 .interrupted =
                                                     [] {
                                                       const py::gil_scoped_acquire lock;
                                                       if (PyErr_CheckSignals() != 0) throw py::error_already_set();
                                                       return false;
                                                     }});
}

std::unique_ptr<StudyHandle> StudyHandle::look(const std::string& text) {
  std::unique_ptr<StudyHandle> handle(new StudyHandle);
  handle->owner_ = ::getpid();
  handle->place_ = locate_place(text);
  if (!handle->place_->in_database()) handle->dir_ = handle->place_->dir();
  handle->store_ = handle->place_->open_for_reading();
  return handle;
}

// Closing a database that was carried across a fork could damage it: the child leaves its copy alone.
StudyHandle::~StudyHandle() {
  if (owner_ == ::getpid()) return;
  [[maybe_unused]] const auto* loop = loop_.release();
  [[maybe_unused]] const auto* session = session_.release();
  [[maybe_unused]] const auto* policy = policy_.release();
  [[maybe_unused]] const auto* store = store_.release();
  [[maybe_unused]] const auto* disk = disk_.release();
}

void StudyHandle::check_process() const {
  if (owner_ == ::getpid()) return;
  throw Error(
      fmt::format("this study was opened by process {}; a process forked from it cannot use it. Open it again, or "
                  "start workers with the method \"spawn\"",
                  owner_));
}

StudyHandle::Turn StudyHandle::take_turn() {
  check_process();
  Turn turn(mutex_);
  if (tuner_ && *tuner_ != std::this_thread::get_id()) {
    throw Error("another thread is tuning this study; use bapi.open_study to read a study on disk meanwhile");
  }
  return turn;
}

void StudyHandle::abandon() {
  if (owner_ != ::getpid()) leadership_.reset();
}

std::optional<Segment> StudyHandle::ask() {
  const Turn turn = take_turn();
  std::optional<Segment> segment = loop().ask();
  std::erase_if(savers_, [&](const auto& saver) { return !loop_->is_handed_out(saver.first); });
  if (dir_ && spec().checkpoints.best > 0) {
    std::set<TrialId> busy;
    for (const auto& [trial, saver] : savers_) busy.insert(trial);
    remove_rubbish(*dir_, rubbish_of(*dir_, history(), spec().checkpoints, busy));
  }
  if (segment && dir_) segment->from = continue_after(dir_->trial(segment->trial), segment->from);
  if (segment && dir_) {
    savers_.emplace(segment->trial, BestModelSaver(dir_->trial(segment->trial), spec().metric, segment->recent));
  }
  return segment;
}

void StudyHandle::note_news(const Event& event, const History& after) {
  if (!news_) return;
  for (Notice& notice : news_->of(event, after)) {
    if (notices_.size() < kMostNotices) notices_.push_back(std::move(notice));
  }
}

std::vector<Notice> StudyHandle::take_notices() {
  const Turn turn = take_turn();
  const History& now = history();
  if (!news_) news_.emplace(now);
  return std::exchange(notices_, {});
}

void StudyHandle::enqueue(const NamedValues& given) {
  const Turn turn = take_turn();
  if (session_) {
    session_->enqueue(wish_of(given, spec().space), "Python");
  } else {
    add_configuration(place_ ? *place_ : StudyPlace(*dir_), given, "Python", [](const std::string&) {});
  }
}

AskTell& StudyHandle::loop() {
  require(loop_ != nullptr, "this study was opened for reading; use bapi.tune or bapi.Study to continue it");
  return *loop_;
}

TuneSummary StudyHandle::tune(WorkerPool& workers, WorkerGuard* guard, const TuneOptions& options) {
  Turn turn = take_turn();
  loop();
  tuner_ = std::this_thread::get_id();
  turn.unlock();
  struct Tuning {
    StudyHandle& study;
    ~Tuning() {
      const Turn last(study.mutex_);
      study.tuner_.reset();
      study.evaluator_ = nullptr;
      study.saw_ = {};
    }
  };
  const Tuning tuning{*this};
  const auto continues_after = [this](TrialId trial, Epoch done) {
    return dir_ ? continue_after(dir_->trial(trial), done) : done;
  };
  std::optional<TrainingClock> training;
  std::unique_ptr<Evaluator> evaluator;
  if (guard) {
    training.emplace(clock_, guard->guardian());
    evaluator = std::make_unique<GuardedWorkerEvaluator>(spec(), workers, *training, *guard, continues_after);
  } else {
    evaluator = std::make_unique<WorkerEvaluator>(spec(), workers, clock_, continues_after);
  }
  evaluator_ = evaluator.get();
  std::optional<Cleaner> cleaner;
  if (dir_) cleaner.emplace(*dir_, spec().checkpoints);
  saw_ = [&](const Event& event) {
    if (cleaner) cleaner->saw(event);
  };
  TuneOptions watched = options;
  watched.observer = [&](const Session& session, const Evaluator& trained) {
    if (cleaner) cleaner->clean(session.history(), trained.live());
    if (options.observer) options.observer(session, trained);
  };
  if (dir_) watched.attend = [this] { return attend(); };
  return bapi::tune(*session_, *evaluator, clock_, watched);
}

Attended StudyHandle::attend() { return take_up(RequestBox(dir_->root()), *session_); }

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
    note_news(stored.event, *seen_);
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
  const bool driven = loop_ || (place_ && place_->leader(*store_).has_value()) ||
                      (!place_ && dir_ && StudyLock::holder(dir_->root()).has_value());
  return driven ? Controller::present : Controller::absent;
}

std::optional<std::string> StudyHandle::database() const {
  return place_ && place_->in_database() ? std::optional(place_->shown()) : std::nullopt;
}

std::optional<StudyDir> StudyHandle::files() const {
  if (!place_) return dir_;
  const StudyDir there = files_of(*place_, *store_);
  return is_nowhere(there) ? std::nullopt : std::optional(there);
}

StudyView StudyHandle::view() {
  const Turn turn = take_turn();
  const Controller now = controller();  // first: one that ends in between has then written all of its events
  History seen = history();
  return {{.dir = place_ ? files_of(*place_, *store_) : dir_.value_or(StudyDir(".")),
           .history = std::move(seen),
           .controller = now,
           .damage = damage_,
           .database = database().value_or("")},
          events_};
}

void StudyHandle::close() {
  const Turn turn = take_turn();
  if (!loop_) return;
  loop_->pause("closed");
  if (dir_) remove_rubbish(*dir_, rubbish_of(*dir_, history(), spec().checkpoints));
  loop_.reset();
  session_.reset();
  policy_.reset();
  leadership_.reset();
}

}  // namespace bapi::python
