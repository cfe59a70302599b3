#include "bapi/studies/work_on_study.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/host.h"
#include "bapi/base/wall_clock.h"
#include "bapi/process/companion.h"
#include "bapi/process/gpus.h"
#include "bapi/process/process_evaluator.h"
#include "bapi/process/recovery.h"
#include "bapi/store/patience.h"
#include "bapi/store/snapshot.h"

namespace bapi {

namespace fs = std::filesystem;

namespace {

constexpr double kBetweenLeaders = 5.0;  // seconds, so that one that cannot lead is not begun again at once

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Whether a worker's directory, HOST-PID, is of this host: "node" has none of "node-1".
bool is_of_host(const std::string& directory, const std::string& host) {
  return directory.starts_with(host + "-") &&
         directory.find_first_not_of("0123456789", host.size() + 1) == std::string::npos;
}

ProcessEvaluatorOptions::AtSegmentEnd while_decided(const StudySpec& spec) {
  using AtSegmentEnd = ProcessEvaluatorOptions::AtSegmentEnd;
  return spec.budget.meter == Meter::accrued ? AtSegmentEnd::train_on : AtSegmentEnd::hold;
}

}  // namespace

// A leader beside this worker, while there is no other.
class WorkSite::StandInLeader {
 public:
  // Refers to the clock.
  StandInLeader(const WorkOptions& options, fs::path log, const Clock& clock)
      : options_(options), log_(std::move(log)), clock_(clock) {
    if (options.lead_at_once) leader_is_missing();
  }

  void leader_is_missing() {
    if (options_.lead.empty() || runs() || clock_.now() < next_) return;
    next_ = clock_.now() + kBetweenLeaders;
    leader_.reset();
    try {
      leader_.emplace(options_.lead, log_);
    } catch (const StoreError& error) {
      if (options_.tell) options_.tell(error.what());  // another worker may lead
    }
  }

 private:
  bool runs() { return leader_ && !leader_->look(); }

  const WorkOptions& options_;
  const fs::path log_;
  const Clock& clock_;
  std::optional<Companion> leader_;
  double next_ = -std::numeric_limits<double>::infinity();
};

// What is read of the study, before the worker joins it and for each of its lives.
template <typename Read>
auto WorkSite::patiently(const Read& read) const {
  return bapi::patiently({.seconds = options_.patience,
                          .remark = options_.tell,
                          .interrupted = [this] { return options_.leave && options_.leave->load(); }},
                         read);
}

WorkSite::WorkSite(const DatabaseStudy& study, const WorkOptions& options)
    : options_(options),
      place_(study),
      study_(patiently([&] { return StudyForWork(study); })),
      first_(patiently([&] { return study_.spec(); })),
      dir_(place_files()) {
  const StudySpec counted = with_workers_for_gpus(first_, Machine::this_one());
  slots_ = options.slots.value_or(first_.gpus.set_workers ? counted.workers : 1);
  require(slots_ >= 1, fmt::format("--slots is {}; expected 1 or more", slots_));
  gpus_of(trained_here(first_), Machine::this_one());  // misses them before anything is begun
}

WorkSite::~WorkSite() = default;

void WorkSite::tell(const std::string& line) const {
  if (options_.tell) options_.tell(line);
}

StudyDir WorkSite::place_files() {
  const std::string me = fmt::format("{}-{}", host_name(), ::getpid());
  if (options_.checkpoints != WorkOptions::Checkpoints::shared) {
    scratch_ = options_.scratch.empty() ? fs::path(fmt::format("{}-{}.worker", place_.name, me)) : options_.scratch;
    StudyDir own(scratch_);
    own.create();
    return own;
  }
  const fs::path shared = options_.dir.empty() ? patiently([&] { return study_.files(); }) : options_.dir;
  if (!options_.dir.empty()) StudyDir(shared).create();
  std::error_code ignored;
  require(
      !shared.empty() && fs::is_directory(shared, ignored),
      fmt::format("found no directory for checkpoints that this machine shares with the other workers{}. Give "
                  "one with --dir, or keep checkpoints on this machine with --checkpoints local, or carry them with "
                  "--fetch and --push",
                  shared.empty() ? "" : fmt::format(" (the study has {})", shared.string())));
  end_what_is_abandoned(shared / "workers");
  scratch_ = options_.scratch.empty() ? shared / "workers" / me : options_.scratch;
  const StudyDir own(scratch_);
  own.create();
  return own.with_checkpoints_in(StudyDir(shared));
}

// By earlier workers of this machine: those of others are not to be found here.
void WorkSite::end_what_is_abandoned(const fs::path& workers) const {
  std::error_code ignored;
  for (const fs::directory_entry& worker : fs::directory_iterator(workers, ignored)) {
    if (!is_of_host(worker.path().filename().string(), host_name())) continue;
    for (const fs::directory_entry& trial : fs::directory_iterator(worker.path() / "trials", ignored)) {
      end_abandoned_process({.root = trial.path()});
    }
  }
}

StudySpec WorkSite::spec() const {
  return trained_here(patiently([&] { return study_.spec(); }));
}

// Programs get the grace period that the worker has promised when it began, or less.
StudySpec WorkSite::trained_here(StudySpec spec) const {
  if (options_.programs) options_.programs->replace_in(spec);
  if (options_.transfer.given() && !spec.command.empty()) {
    spec.command = with_transfer(spec.command);
    for (const auto& [name, value] : variables_of(options_.transfer)) spec.env[name] = value;
  }
  spec.workers = slots_;
  spec.grace = std::min(spec.grace, first_.effective_grace());
  std::error_code ignored;
  if (!spec.cwd.empty() && !fs::is_directory(spec.cwd, ignored)) spec.cwd = fs::current_path().string();
  return spec;
}

Epoch WorkSite::continues_after(TrialId trial, Epoch done) const {
  if (options_.checkpoints == WorkOptions::Checkpoints::carried) return done;
  std::error_code ignored;
  const bool is_lost =
      options_.checkpoints == WorkOptions::Checkpoints::local && !fs::exists(dir_.trial(trial).models(), ignored);
  return is_lost ? 0 : continue_after(dir_.trial(trial), done);
}

WorkerEnd WorkSite::train(const WorkerLoop::MakeEvaluator& make_evaluator) {
  const SystemClock clock;
  const WallClock wall(clock);
  StandInLeader leader(options_, scratch_ / "leader.log", wall);
  tell(fmt::format("trains {} at a time for {}, with its files in {}",
                   slots_ == 1 ? "one trial" : fmt::format("{} trials", slots_),
                   place_.shown(),
                   scratch_.string()));
  WorkerLoop loop(study_.dispatch(),
                  make_evaluator,
                  wall,
                  {.card = {.host = host_name(),
                            .pid = ::getpid(),
                            .job = job_of_this_process(),
                            .version = options_.version,
                            .slots = slots_},
                   .grace = first_.effective_grace(),
                   .smooth = first_.metric.smooth,
                   .leave = options_.leave,
                   .leader_missing = [&] { leader.leader_is_missing(); },
                   .remark = [this](const std::string& line) { tell(line); },
                   .patience = options_.patience});
  return loop.run();
}

WorkerEnd work_on_study(const DatabaseStudy& study, const WorkOptions& options, const Trainer& trainer) {
  std::unique_ptr<WorkSite> site;
  try {
    site = std::make_unique<WorkSite>(study, options);
    trainer.check(site->spec());
  } catch (const Shortage&) {
    if (options.leave && options.leave->load()) return WorkerEnd::left;  // before it could join
    throw;
  }
  return site->train([&] { return trainer.evaluator(*site); });
}

WorkerEnd work_on_study(const DatabaseStudy& study, const WorkOptions& options) {
  const SystemClock clock;
  const auto check = [&](const StudySpec& spec) {
    require(!spec.command.empty(),
            fmt::format("{} has no training command: it was created by a Python or C++ program. Train it with a "
                        "Python function, bapi.work(\"{}\", train), or give the study file of a command that trains it "
                        "(--file)",
                        study.shown(),
                        study.shown()));
  };
  const auto evaluator = [&](const WorkSite& site) {
    const StudySpec spec = site.spec();
    return std::make_unique<ProcessEvaluator>(
        spec,
        site.dir(),
        clock,
        ProcessEvaluatorOptions{
            .at_segment_end = while_decided(spec),
            .continues_after = [&](TrialId trial, Epoch done) { return site.continues_after(trial, done); },
            .remark = options.tell});
  };
  return work_on_study(study, options, {.check = check, .evaluator = evaluator});
}

std::string job_of_this_process() {
  const std::string array = variable("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) return fmt::format("slurm {}_{}", array, variable("SLURM_ARRAY_TASK_ID"));
  const std::string job = variable("SLURM_JOB_ID");
  return job.empty() ? "" : "slurm " + job;
}

}  // namespace bapi
