#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bapi/control/ask_tell.h"
#include "bapi/control/tune.h"
#include "bapi/control/worker_evaluator.h"
#include "bapi/policy/policy.h"
#include "bapi/process/guarded_workers.h"
#include "bapi/store/leadership.h"
#include "bapi/store/snapshot.h"
#include "bapi/store/store.h"
#include "bapi/studies/study_view.h"
#include "bapi/study/notices.h"

namespace bapi::python {

// A study as Python holds it: driven by this process (ask and tell), or only looked at. Calls from several threads take
// turns; while one of them is in `tune`, those of all others throw Error. A child that was forked from the process has
// no part in the study: every call of it throws Error, and its copy is neither closed nor written to.
class StudyHandle {
 public:
  // Drives the study in the directory `root`, a new one or the one that is there; without a root in memory alone.
  // `notes` gets what was changed in a study that exists.
  static std::unique_ptr<StudyHandle> drive(const StudySpec& given,
                                            const std::optional<std::filesystem::path>& root,
                                            std::vector<std::string>& notes);
  // Looks at the study that `text` names, as the program would.
  static std::unique_ptr<StudyHandle> look(const std::string& text);

  ~StudyHandle();
  StudyHandle(const StudyHandle&) = delete;
  StudyHandle& operator=(const StudyHandle&) = delete;

  // Runs `use` on the loop while no other thread does. InvalidInput if the study is only looked at.
  template <typename Use>
  auto with_loop(Use use) {
    const Turn turn = take_turn();
    return use(loop());
  }

  // The next segment, if there is one: `AskTell::ask`.
  std::optional<Segment> ask();

  // What has happened since the last call, for callbacks; the first one of a study that is only looked at is the
  // beginning.
  std::vector<Notice> take_notices();

  // Asks for a configuration to be tried next, also of a study that is only looked at.
  void enqueue(const NamedValues& given);

  // The study as it stands now. Nothing is read twice: who drives a study has it in memory, who looks at one reads what
  // was written since.
  template <typename Use>
  auto with_history(Use use) {
    const Turn turn = take_turn();
    return use(history());
  }

  // The same with the events behind it.
  template <typename Use>
  auto with_log(Use use) {
    const Turn turn = take_turn();
    const History& now = history();
    return use(now, std::span<const StoredEvent>(events_));
  }

  // Runs the study to its end in workers, which have a guard if they are processes of this machine. The callbacks of
  // the loop, which are in the same thread, may read the study. InvalidInput if it is only looked at.
  TuneSummary tune(WorkerPool& workers, WorkerGuard* guard, const TuneOptions& options);

  const StudySpec& spec() const { return store_->spec(); }
  StudyView view();                // a copy, for everything that takes longer
  std::optional<Damage> damage();  // where the log of a study that is only looked at ends for us
  bool driving() const { return loop_ != nullptr; }
  Controller controller() const;  // whether this process, or any, drives it now
  void close();                   // lets others drive the study; from now on it is only looked at
  void abandon();                 // in a forked child: does not keep the study locked once the parent is gone
  const std::optional<StudyDir>& dir() const { return dir_; }
  std::optional<StudyDir> files() const;        // that of its trials' files, as far as it has one
  std::optional<std::string> database() const;  // the address of one in a database

 private:
  using Turn = std::unique_lock<std::mutex>;

  StudyHandle() = default;
  void check_process() const;
  Turn take_turn();
  AskTell& loop();
  const History& history();
  void read_on();
  void note_news(const Event& event, const History& after);
  std::unique_ptr<Store> waiting_store();
  Attended attend();

  std::mutex mutex_;
  std::optional<std::thread::id> tuner_;  // the thread that is in `tune`
  int owner_ = 0;                         // process id
  SystemClock clock_;
  StoppableClock training_clock_{clock_};  // without the time in which the log had no room
  Evaluator* evaluator_ = nullptr;         // while it is in `tune`
  std::function<void(const Event&)> saw_;  // the same: is told of every event
  std::optional<StudyDir> dir_;            // of one in a directory
  std::optional<StudyPlace> place_;        // of one that is only looked at
  std::unique_ptr<Leadership> leadership_;
  std::unique_ptr<Store> disk_;  // behind a store that waits while there is no room
  std::unique_ptr<Store> store_;
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<AskTell> loop_;
  std::map<TrialId, BestModelSaver> savers_;  // of trials that are handed out
  std::optional<NoticeWriter> news_;
  std::vector<Notice> notices_;      // that nobody has taken
  std::vector<StoredEvent> events_;  // as far as they were read or written
  std::optional<History> seen_;      // what they add up to while the study is only looked at
  std::optional<Damage> damage_;     // of the first event that was read and does not count
};

}  // namespace bapi::python
