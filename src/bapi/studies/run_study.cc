#include "bapi/studies/run_study.h"

#include <fmt/format.h>
#include <unistd.h>

#include <limits>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/control/failures.h"
#include "bapi/control/lead.h"
#include "bapi/control/requests.h"
#include "bapi/policy/registry.h"
#include "bapi/process/companion.h"
#include "bapi/process/gpus.h"
#include "bapi/process/hooks.h"
#include "bapi/process/process_evaluator.h"
#include "bapi/store/patient_store.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/provenance.h"

namespace bapi {

namespace {

constexpr double kAttendEvery = 1.0;      // seconds between two looks for requests in a database
constexpr double kTimeToGo = 30.0;        // seconds for a worker whose study has ended
constexpr double kRemindOfWorkers = 5.0;  // seconds without any

void tell(const RunOptions& options, const std::string& line) {
  if (options.tell) options.tell(line);
}

bool is_interrupted(const RunOptions& options) { return options.interrupt && options.interrupt->load(); }

ProcessEvaluatorOptions::AtSegmentEnd at_segment_end(const StudySpec& spec) {
  using AtSegmentEnd = ProcessEvaluatorOptions::AtSegmentEnd;
  if (spec.withholds_epochs_ahead()) return AtSegmentEnd::lockstep;
  return spec.budget.meter == Meter::accrued ? AtSegmentEnd::train_on : AtSegmentEnd::hold;
}

// A log with the study's files, if they are on this machine.
std::filesystem::path log_file(const OpenedStudy& study, const char* name) {
  std::error_code ignored;
  if (std::filesystem::is_directory(study.dir.root(), ignored)) return study.dir.root() / name;
  return std::filesystem::temp_directory_path() / fmt::format("bapi-{}-{}-{}", ::getuid(), study.place.name(), name);
}

// Hooks find the database of a study where the process that runs it has put its address (remember_storage).
HookPlace hook_place(const OpenedStudy& study) {
  return {.dir = study.dir,
          .study = study.place.in_database() ? "#" + study.place.name() : study.dir.root().string(),
          .log = log_file(study, "hooks.log")};
}

// Those who follow a run: who keeps its events, the display, hooks, and the removal of files that are not needed any
// more.
class Followers {
 public:
  // Refers to all; the evaluator may go before `end`.
  Followers(OpenedStudy& study,
            const StudySpec& spec,
            Session& session,
            const Evaluator& evaluator,
            const Clock& clock,
            const RunOptions& options)
      : session_(session),
        evaluator_(evaluator),
        options_(options),
        cleaner_(study.dir, spec.checkpoints),
        hooks_(spec, hook_place(study), clock, limits_from_environment()),
        notices_(session.history()) {
    session.listen([this, &study](const StoredEvent& stored) {
      study.events.push_back(stored);
      cleaner_.saw(stored.event);
      for (const Notice& notice : notices_.of(stored.event, session_.history())) {
        hooks_.tell(notice, session_.history());
      }
      show(&stored.event);
    });
    show(nullptr);
  }

  void look() {
    cleaner_.clean(session_.history(), evaluator_.in_use());
    hooks_.look();
    show(nullptr);
  }

  void end() {
    cleaner_.clean_up(session_.history());
    hooks_.finish();
  }

 private:
  void show(const Event* event) {
    if (options_.listener) options_.listener({.session = session_, .evaluator = evaluator_, .event = event});
  }

  const Session& session_;
  const Evaluator& evaluator_;
  const RunOptions& options_;
  Cleaner cleaner_;
  HookRunner hooks_;
  NoticeWriter notices_;
};

StudySummary summary_of(const TuneSummary& summary, const Session& session, OpenedStudy& study) {
  return {.end = summary.end,
          .reason = summary.reason,
          .study = {{.dir = study.dir,
                     .history = session.history(),
                     .controller = Controller::absent,
                     .database = study.place.in_database() ? study.place.shown() : ""},
                    std::move(study.events)}};
}

StudySummary drive_here(OpenedStudy study, Policy& policy, const RunOptions& options) {
  const SystemClock clock;
  StudySpec spec = study.store().spec();
  spec.cwd = working_directory(spec, study.dir).string();
  std::unique_ptr<ProcessEvaluator> evaluator;
  PatientStore log(study.store(),
                   {.remark = options.remark,
                    .pause = [&] { evaluator->pause(); },
                    .go_on = [&] { evaluator->go_on(); },
                    .interrupted = [&] { return is_interrupted(options); }});
  Session session(log, policy, clock, past_of(std::move(study.history), study.events));
  session.serve(study.place.wishes());
  ProcessEvaluatorOptions process_options;
  if (spec.deadline) process_options.deadline = session.started_at() + *spec.deadline;
  process_options.at_segment_end = at_segment_end(spec);
  process_options.remark = options.remark;
  evaluator = std::make_unique<ProcessEvaluator>(spec, study.dir, clock, process_options);
  Followers followers(study, spec, session, *evaluator, clock, options);
  if (!session.history().trials().empty()) {
    // What ends a run is met again, by the programs that are started now.
    const Judgement recovered =
        judge(session.history(), evaluator->recover(session.history()), {.keep_going = options.keep_going});
    session.record(recovered.facts);
  }
  const RequestBox requests = study.place.requests();
  const TuneSummary summary = tune(session,
                                   *evaluator,
                                   clock,
                                   {.interrupt = options.interrupt,
                                    .observer = [&](const Session&, const Evaluator&) { followers.look(); },
                                    .attend = [&] { return take_up(requests, session); },
                                    .keep_going = options.keep_going,
                                    .thought = TuneOptions::Thought::beside_the_loop});
  evaluator.reset();  // every model is kept by then
  followers.end();
  return summary_of(summary, session, study);
}

// Of a database that cannot be reached for now.
Patience patience_of(const RunOptions& options) {
  return {.seconds = options.cluster.patience, .remark = options.remark, .interrupted = [&] {
            return is_interrupted(options);
          }};
}

class WorkerProcess : public OwnWorker {
 public:
  WorkerProcess(const std::vector<std::string>& command, std::filesystem::path log)
      : companion_(command, log), log_(std::move(log)) {}

  bool has_ended() override { return companion_.look().has_value(); }
  void check() override {
    const std::optional<Exit>& exit = companion_.look();
    if (!exit || exit->in_order()) return;
    throw StoreError(
        fmt::format("the worker of this machine has ended with {}; {} says why", exit->text(), log_.string()));
  }
  void tell_to_leave() override { companion_.tell_to_leave(); }
  void wait(double seconds) override { companion_.wait(seconds); }

 private:
  Companion companion_;
  const std::filesystem::path log_;
};

// The worker of this machine while its study is led here, if there is one. The run ends for an interrupt when the
// worker has left and what it delivered last was recorded, and with an error if it ends for another reason.
class WorkerOfRun {
 public:
  WorkerOfRun(const RunOptions& options, const OpenedStudy& study) : options_(options) {
    if (options.cluster.worker) worker_ = options.cluster.worker(log_file(study, "worker.log"));
  }

  const std::atomic<bool>* ends_run() const { return &ends_run_; }

  // After facts were recorded.
  void look() {
    if (is_interrupted(options_) && worker_) worker_->tell_to_leave();
    const bool has_left = !worker_ || worker_->has_ended();
    if (is_interrupted(options_)) {
      ends_run_ = has_left && had_left_;
    } else if (worker_) {
      worker_->check();
    }
    had_left_ = has_left;
  }

  // The run is over.
  void end(const TuneSummary& summary) {
    if (!worker_) return;
    if (summary.end != TuneEnd::finished) worker_->tell_to_leave();
    worker_->wait(kTimeToGo);
  }

 private:
  const RunOptions& options_;
  std::unique_ptr<OwnWorker> worker_;
  bool had_left_ = false;
  std::atomic<bool> ends_run_{false};
};

// What others ask of the leader. A database that cannot be reached for now is asked later.
class RemoteRequests {
 public:
  RemoteRequests(RequestBox box, const Clock& clock) : box_(std::move(box)), clock_(clock) {}

  Attended take(Session& session) {
    if (clock_.now() - looked_at_ < kAttendEvery) return {};
    looked_at_ = clock_.now();
    try {
      return take_up(box_, session);
    } catch (const LeadershipLost&) {
      throw;
    } catch (const Shortage&) {
      return {};
    }
  }

 private:
  RequestBox box_;
  const Clock& clock_;
  double looked_at_ = -std::numeric_limits<double>::infinity();
};

// Tells people what to do when nobody trains.
class MissingWorkers {
 public:
  MissingWorkers(const RunOptions& options, const OpenedStudy& study, const Clock& clock)
      : options_(options), start_(how_to_start(study)), clock_(clock), since_(clock.now()) {}

  void look(const Evaluator& evaluator) {
    if (evaluator.slots() > 0) {
      since_ = clock_.now();
      said_ = false;
    } else if (!said_ && options_.remark && clock_.now() - since_ > kRemindOfWorkers) {
      said_ = true;
      options_.remark("there is no worker; start some with: " + start_);
    }
  }

 private:
  static std::string how_to_start(const OpenedStudy& study) {
    const std::string place = study.place.shown();
    return study.store().spec().command.empty() ? fmt::format("bapi.work(\"{}\", train)", place)
                                                : fmt::format("bapi worker '{}'", place);
  }

  const RunOptions& options_;
  const std::string start_;
  const Clock& clock_;
  double since_;
  bool said_ = false;
};

StudySummary drive_cluster(OpenedStudy study, Policy& policy, const RunOptions& options) {
  const Clock& clock = *study.held.clock;
  StudySpec spec = study.store().spec();
  if (options.cluster.programs) options.cluster.programs->replace_in(spec);
  std::error_code ignored;
  if (!std::filesystem::is_directory(spec.cwd, ignored)) spec.cwd.clear();  // of another machine: hooks run here
  PatientStore log(study.store(), patience_of(options));
  Session session(log, policy, clock, past_of(std::move(study.history), study.events));
  session.serve(study.place.wishes());
  ClusterEvaluator evaluator(
      session,
      *study.held.leadership,
      *study.held.dispatch,
      clock,
      {.lease = spec.effective_lease(), .patience = options.cluster.patience, .remark = options.remark});
  if (!session.history().finished()) evaluator.announce(StudyPhase::open);  // before workers look
  WorkerOfRun worker(options, study);
  Followers followers(study, spec, session, evaluator, clock, options);
  RemoteRequests requests(study.place.requests(), clock);
  MissingWorkers missing(options, study, clock);
  const TuneSummary summary = lead(session,
                                   evaluator,
                                   clock,
                                   {.interrupt = worker.ends_run(),
                                    .observer =
                                        [&](const Session&, const Evaluator&) {
                                          followers.look();
                                          worker.look();
                                          missing.look(evaluator);
                                        },
                                    .attend = [&] { return requests.take(session); },
                                    .keep_going = options.keep_going,
                                    .thought = TuneOptions::Thought::beside_the_loop});
  worker.end(summary);
  followers.end();
  return summary_of(summary, session, study);
}

// From the log as it is by then, should the database fall back to an older one.
StudySummary drive_cluster_on(OpenedStudy study, Policy& policy, const RunOptions& options) {
  const DatabaseStudy place = study.place.database();
  for (std::optional<OpenedStudy> next(std::move(study));;
       next.emplace(patiently(patience_of(options), [&] { return take_over_study(place, options.version); }))) {
    try {
      return drive_cluster(std::move(*next), policy, options);
    } catch (const LogWentBack& error) {
      if (options.remark) options.remark(error.what());
    }
  }
}

StudySummary drive(OpenedStudy study, Policy& policy, const RunOptions& options) {
  return study.place.in_database() ? drive_cluster_on(std::move(study), policy, options)
                                   : drive_here(std::move(study), policy, options);
}

// As a study in a database has it: reports of several machines come in any order.
StudySpec for_cluster(StudySpec spec) {
  require(!spec.lockstep.value_or(false),
          "lockstep: yes, but the workers of a study in a database report in any order; expected lockstep: no. Change "
          "it, or keep the study in a directory");
  spec.lockstep = false;
  return spec;
}

}  // namespace

BeginWorker worker_process(std::vector<std::string> command) {
  return [command = std::move(command)](const std::filesystem::path& log) {
    return std::make_unique<WorkerProcess>(command, log);
  };
}

OpenedStudy open_to_run(const StudySpec& spec, const StudyPlace& place, const RunOptions& options) {
  make_policy(spec.policy);  // checks its options before anything is made
  StudySpec counted = with_workers_for_gpus(spec, Machine::this_one());
  if (place.in_database()) {
    counted = for_cluster(std::move(counted));
  } else {
    gpus_of(counted, Machine::this_one());  // misses them before anything is made
  }
  const std::string python = spec.provenance.python;
  counted.provenance =
      provenance_of(options.version, counted.cwd.empty() ? options.home : std::filesystem::path(counted.cwd));
  counted.provenance.python = python;
  OpenedStudy study = open_or_create_study(
      place, counted, [&](const std::string& line) { tell(options, line); }, options.home);
  if (!options.cluster.files.empty()) take_files(study, options.cluster.files);
  return study;
}

StudySummary run_opened(OpenedStudy study, const RunOptions& options) {
  const std::unique_ptr<Policy> policy = make_policy(study.store().spec().policy);
  return drive(std::move(study), *policy, options);
}

StudySummary run_study(const StudySpec& spec, const StudyPlace& place, const RunOptions& options) {
  return run_opened(open_to_run(spec, place, options), options);
}

StudySummary resume_study(const StudyPlace& place, const StudyChanges& changes, const RunOptions& options) {
  OpenedStudy study =
      reopen_study(place, changes, options.version, [&](const std::string& line) { tell(options, line); });
  return run_opened(std::move(study), options);
}

StudySummary lead_study(const DatabaseStudy& study, const RunOptions& options) {
  return run_opened(take_over_study(study, options.version), options);
}

}  // namespace bapi
