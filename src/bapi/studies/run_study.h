#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bapi/control/tune.h"
#include "bapi/studies/study_file.h"
#include "bapi/studies/study_opening.h"
#include "bapi/studies/study_view.h"

namespace bapi {

// Something has happened in a study that is being run.
struct RunUpdate {
  const Session& session;
  const Evaluator& evaluator;
  const Event* event = nullptr;  // that was just written to the log; nullptr: time has passed
};

// A worker on the machine of the leader that lasts as long as the run of the study. The destructor ends it.
class OwnWorker {
 public:
  virtual ~OwnWorker() = default;
  virtual bool has_ended() = 0;
  virtual void check() = 0;  // throws if it has ended, and not because it was told to or the study has finished
  virtual void tell_to_leave() = 0;
  virtual void wait(double seconds) = 0;  // until it has ended, or the time is over
};

// Begins one whose output, if it has any, goes to `log`.
using BeginWorker = std::function<std::unique_ptr<OwnWorker>(const std::filesystem::path& log)>;

// One that is a process.
BeginWorker worker_process(std::vector<std::string> command);

// What only a study in a database needs.
struct ClusterRun {
  // The directory for the trials' files of a new study. Workers keep checkpoints there unless they are told otherwise.
  std::filesystem::path files = {};

  // The worker that trains on this machine while the study is run; not set: others train.
  BeginWorker worker = {};

  double patience = 600.0;  // seconds for which a database that cannot be reached is tried again

  std::optional<OwnPrograms> programs = {};  // tells these hooks; not set: those of the study
};

struct RunOptions {
  // Becomes true when the user asks to stop (Ctrl-C): running trials are paused at their checkpoints. Those of other
  // machines continue, and another worker leads from then on.
  const std::atomic<bool>* interrupt = nullptr;

  // Where the programs of a new study run unless its specification says so; empty: where this process is.
  std::filesystem::path home = {};

  // Record failures also before anything was reported (control/failures.h).
  bool keep_going = false;

  std::string version = {};  // of the program that runs the study, for its records

  // Gets a line about everything that was done when the study was opened.
  Tell tell = {};

  // Gets why programs wait to be started, when the machine is out of processes, files, memory or disk space, and what
  // happens to workers and to the connection of a study in a database.
  Tell remark = {};

  // Called after every event and several times a second.
  std::function<void(const RunUpdate&)> listener = {};

  ClusterRun cluster = {};
};

struct StudySummary {
  TuneEnd end = TuneEnd::finished;
  std::string reason = {};
  StudyView study;  // as it stands when the controller has let it go
};

// Runs a study until it ends: a new one at `place`, or the one that is there, from where it stands. A study that exists
// must agree with `spec` in everything but what may change (spec_change.h), which is taken over. Its log is read once.
// Throws InvalidInput, and StoreError if another controller is at work.
//
// In a directory, training programs are processes of this machine; what runs there from before is recovered. Of a study
// in a database this process is the leader: its workers train, and go on with what they have.
StudySummary run_study(const StudySpec& spec, const StudyPlace& place, const RunOptions& options = {});

// The same in two steps: a study is opened or created, and run.
OpenedStudy open_to_run(const StudySpec& spec, const StudyPlace& place, const RunOptions& options = {});
StudySummary run_opened(OpenedStudy study, const RunOptions& options = {});

// run_study for a study that must be there, with the specification that it has but for `changes`.
StudySummary resume_study(const StudyPlace& place, const StudyChanges& changes = {}, const RunOptions& options = {});

// Leads a study in a database as it is, because nobody does: nothing of it is changed. StoreError if somebody leads.
StudySummary lead_study(const DatabaseStudy& study, const RunOptions& options = {});

}  // namespace bapi
