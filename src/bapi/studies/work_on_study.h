#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bapi/control/worker_loop.h"
#include "bapi/process/transfer.h"
#include "bapi/store/database_url.h"
#include "bapi/studies/study_file.h"
#include "bapi/studies/study_opening.h"
#include "bapi/studies/study_place.h"

namespace bapi {

struct WorkOptions {
  std::optional<int> slots = {};  // trials at a time; not set: one, or as many as the study's GPUs have places here

  // Where checkpoints are. Others continue what this worker began only if they find them.
  enum class Checkpoints {
    shared,   // in a directory that all workers see
    local,    // with this worker: another one that continues a trial trains it again from its first epoch
    carried,  // with this worker, fetched from elsewhere before a program begins and pushed there after it has ended
  };
  Checkpoints checkpoints = Checkpoints::shared;
  std::filesystem::path dir = {};  // the shared directory; empty: that of the study
  Transfer transfer = {};          // of checkpoints that are carried

  // For logs and reports of this worker's programs, and for local checkpoints; empty: `workers/HOST-PID` in the shared
  // directory, or NAME-HOST-PID.worker in the current one.
  std::filesystem::path scratch = {};

  std::optional<OwnPrograms> programs = {};  // trains with these; not set: with what the study says

  // The command of a process that leads the study, begun when nobody does; empty: this worker leaves that to others.
  std::vector<std::string> lead = {};
  bool lead_at_once = false;  // begin it without having looked whether somebody leads

  const std::atomic<bool>* leave = nullptr;  // becomes true when the worker has to go
  Tell tell = {};                            // gets a line about what it does
  double patience = 600.0;                   // seconds for which a database that cannot be reached is tried again
  std::string version = {};                  // of the program
};

// A study in a database on this machine, for a worker.
class WorkSite {
 public:
  // Ends first what an earlier worker of this machine left running. Throws InvalidInput if the study cannot be trained
  // here: its files or GPUs are not on this machine. Refers to the options.
  WorkSite(const DatabaseStudy& study, const WorkOptions& options);
  ~WorkSite();

  StudySpec spec() const;  // as it is now, and as it is trained here: slots, working directory
  const StudyDir& dir() const { return dir_; }
  int slots() const { return slots_; }

  // The epoch after which a trial continues here that has trained `done` epochs.
  Epoch continues_after(TrialId trial, Epoch done) const;

  // Trains until the study has ended or the worker has to leave (control/worker_loop.h). InvalidInput if another
  // version of bapi leads the study.
  WorkerEnd train(const WorkerLoop::MakeEvaluator& make_evaluator);

 private:
  class StandInLeader;

  template <typename Read>
  auto patiently(const Read& read) const;
  StudySpec trained_here(StudySpec spec) const;
  StudyDir place_files();
  void end_what_is_abandoned(const std::filesystem::path& workers) const;
  void tell(const std::string& line) const;

  const WorkOptions& options_;
  const DatabaseStudy place_;
  StudyForWork study_;
  const StudySpec first_;
  int slots_ = 1;
  std::filesystem::path scratch_;
  StudyDir dir_;
};

// What a worker trains with.
struct Trainer {
  std::function<void(const StudySpec&)> check = {};  // throws InvalidInput if it cannot train this study
  std::function<std::unique_ptr<Evaluator>(const WorkSite&)> evaluator = {};  // for every life of the worker a new one
};

// Trains for a study in a database until the study has ended or the worker has to leave. Throws as WorkSite.
WorkerEnd work_on_study(const DatabaseStudy& study, const WorkOptions& options, const Trainer& trainer);

// The same with the study's training program, as processes of this machine.
WorkerEnd work_on_study(const DatabaseStudy& study, const WorkOptions& options);

// The job of a batch system that this process belongs to: "slurm 1234_7"; empty without one.
std::string job_of_this_process();

}  // namespace bapi
