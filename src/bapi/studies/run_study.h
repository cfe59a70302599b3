#pragma once

#include <atomic>
#include <functional>

#include "bapi/control/tune.h"
#include "bapi/studies/study_opening.h"
#include "bapi/studies/study_view.h"

namespace bapi {

// Something has happened in a study that is being run.
struct RunUpdate {
  const Session& session;
  const Evaluator& evaluator;
  const Event* event = nullptr;  // that was just written to the log; nullptr: time has passed
};

struct RunOptions {
  // Becomes true when the user asks to stop (Ctrl-C): running trials are paused at their checkpoints.
  const std::atomic<bool>* interrupt = nullptr;

  // Where the programs of a new study run unless its specification says so; empty: where this process is.
  std::filesystem::path home = {};

  // Record failures also before anything was reported (control/failures.h).
  bool keep_going = false;

  std::string version = {};  // of the program that runs the study, for its records

  // Gets a line about everything that was done when the study was opened.
  Tell tell = {};

  // Gets why programs wait to be started, when the machine is out of processes, files, memory or disk space.
  Tell remark = {};

  // Called after every event and several times a second.
  std::function<void(const RunUpdate&)> listener = {};
};

struct StudySummary {
  TuneEnd end = TuneEnd::finished;
  std::string reason = {};
  StudyView study;  // as it stands when the controller has let it go
};

// Runs a study until it ends: a new one in `dir`, or the one that is there, from where it stands. Training programs are
// processes of this machine; what runs there from before is recovered. A study that exists must agree with `spec` in
// everything but what may change (spec_change.h), which is taken over. Its log is read once. Throws InvalidInput, and
// StoreError if another controller is at work.
StudySummary run_study(const StudySpec& spec, const StudyDir& dir, const RunOptions& options = {});

// The same for a study that must be there, with the specification that it has but for `changes`.
StudySummary resume_study(const StudyDir& dir, const StudyChanges& changes = {}, const RunOptions& options = {});

}  // namespace bapi
