#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <chrono>
#include <future>
#include <mutex>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/control/worker_evaluator.h"
#include "bapi/process/guarded_workers.h"
#include "bapi/studies/provenance.h"
#include "bapi/studies/run_study.h"
#include "bapi/studies/study_view.h"
#include "bapi/studies/work_on_study.h"
#include "bapi/study/codec.h"
#include "bapi/study/quantity.h"
#include "bindings.h"
#include "convert.h"
#include "python_workers.h"
#include "specification.h"

// Studies in a database, led and trained by Python. What takes long runs in threads of its own, with the interpreter's
// lock only where it calls Python; the thread that was called looks at signals and the display meanwhile.

namespace bapi::python {

namespace py = pybind11;

namespace {

using std::chrono::milliseconds;

// The flags of a run, and what is to be told to people.
class Talk {
 public:
  std::atomic<bool> leave{false};  // in order
  std::atomic<bool> abort{false};  // at once

  Tell tell() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
  }

  std::vector<std::string> take_lines() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Does `run` in another thread. `look` gets the lines that were told, several times a second, and answers whether to
// leave. An exception of it, or of a signal's handler, ends the run at once.
template <typename Run>
auto beside_python(const Run& run, Talk& talk, const py::function& look) {
  constexpr milliseconds kGlance{50};
  auto running = std::async(std::launch::async, run);
  try {
    while (true) {
      {
        const py::gil_scoped_release free;
        if (running.wait_for(kGlance) == std::future_status::ready) break;
      }
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (look(talk.take_lines()).template cast<bool>()) talk.leave = true;
    }
  } catch (...) {
    talk.abort = true;
    talk.leave = true;
    const py::gil_scoped_release free;
    running.wait();
    throw;
  }
  look(talk.take_lines());
  const py::gil_scoped_release free;
  return running.get();
}

// A study in a database on this machine, as the pool of its workers sees it.
struct Site {
  const WorkSite& place;
  StudySpec spec;  // as it is trained here

  // (directory of the trial, where its models are), made.
  std::pair<std::string, std::string> trial_dir(std::int64_t trial, const py::dict& config) const {
    const TrialDir dir = place.dir().trial(TrialId{trial});
    dir.create();
    replace_file(dir.config(), encode(config_of(config, spec.space), spec.space) + "\n");
    return {dir.root.string(), dir.models().string()};
  }
};

// A pool of Python's workers and its guard, which must know each other's time.
class GuardedPool {
 public:
  GuardedPool(const py::function& make_pool, const WorkSite& site, const Clock& clock, const std::atomic<bool>& abort)
      : spec_(site.spec()) {
    const py::gil_scoped_acquire lock;
    pool_ = make_pool(Site{.place = site, .spec = spec_});
    guard_ = pool_.attr("guard").cast<WorkerGuard*>();
    workers_.emplace(pool_, spec_, &abort);
    clock_.emplace(clock, guard_->guardian());
  }
  ~GuardedPool() {
    const py::gil_scoped_acquire lock;
    workers_.reset();
    try {
      pool_.attr("close")();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("bapi");
    }
    pool_ = py::object();
  }
  GuardedPool(const GuardedPool&) = delete;
  GuardedPool& operator=(const GuardedPool&) = delete;

 protected:
  const StudySpec spec_;
  py::object pool_;
  WorkerGuard* guard_ = nullptr;
  std::optional<PythonWorkers> workers_;
  std::optional<TrainingClock> clock_;
};

// Of one life of a worker: it ends its processes when it goes.
class PoolEvaluator : private GuardedPool, public GuardedWorkerEvaluator {
 public:
  PoolEvaluator(const py::function& make_pool, const WorkSite& site, const Clock& clock, const std::atomic<bool>& abort)
      : GuardedPool(make_pool, site, clock, abort),
        GuardedWorkerEvaluator(GuardedPool::spec_,
                               *GuardedPool::workers_,
                               *GuardedPool::clock_,
                               *GuardedPool::guard_,
                               [&site](TrialId trial, Epoch done) { return site.continues_after(trial, done); }) {}
};

// Refers to everything.
Trainer function_trainer(const DatabaseStudy& study,
                         const py::function& make_pool,
                         const Clock& clock,
                         const std::atomic<bool>& abort) {
  return {.check =
              [&](const StudySpec& spec) {
                require(spec.command.empty(),
                        fmt::format("{}: found a study that is trained by a command, {}; bapi.work expects one that "
                                    "bapi.tune(..., storage=...) created. Train it with: bapi worker '{}'",
                                    study.shown(),
                                    fmt::join(spec.command, " "),
                                    study.shown()));
              },
          .evaluator =
              [&](const WorkSite& site) { return std::make_unique<PoolEvaluator>(make_pool, site, clock, abort); }};
}

// The worker of a leader that is in the same process.
class WorkerThread : public OwnWorker {
 public:
  WorkerThread(const DatabaseStudy& study, std::optional<int> slots, const py::function& make_pool, Talk& talk)
      : study_(study),
        talk_(talk),
        options_{.slots = slots, .leave = &leave_, .version = BAPI_VERSION},
        trainer_(function_trainer(study_, make_pool, clock_, talk.abort)),
        running_(std::async(std::launch::async, [this] { return work_on_study(study_, options_, trainer_); })) {}
  ~WorkerThread() override {
    leave_ = true;
    running_.wait();
  }

  bool has_ended() override {
    if (talk_.abort) leave_ = true;
    return running_.wait_for(milliseconds{0}) == std::future_status::ready;
  }
  void check() override {
    if (has_ended()) running_.get();  // throws what has ended it
  }
  void tell_to_leave() override { leave_ = true; }
  void wait(double seconds) override { running_.wait_for(std::chrono::duration<double>(seconds)); }

 private:
  const DatabaseStudy study_;
  Talk& talk_;
  const SystemClock clock_;
  std::atomic<bool> leave_{false};
  const WorkOptions options_;
  const Trainer trainer_;
  std::shared_future<WorkerEnd> running_;
};

// A study in a database that this process leads, until it was run.
struct Led {
  DatabaseStudy place;
  std::optional<OpenedStudy> study;
};

DatabaseStudy named_study(const std::string& text) {
  DatabaseStudy study = text.starts_with('#') ? database_place(text).database() : parse_database_study(text);
  require(!study.name.empty(),
          fmt::format("storage: {} is a database; expected the name of the study behind it, {}#NAME",
                      study.shown(),
                      study.shown()));
  return study;
}

// (study, what was done to it)
py::tuple open_to_lead(const StudySpec& spec, const std::string& text, const std::string& files) {
  std::vector<std::string> notes;
  std::unique_ptr<Led> led;
  {
    StudySpec recorded = spec;
    recorded.provenance.python = python_version();
    const py::gil_scoped_release free;
    DatabaseStudy place = named_study(text);
    recorded.name = place.name;
    RunOptions options{.version = BAPI_VERSION, .tell = [&](const std::string& line) { notes.push_back(line); }};
    options.cluster.files = files;
    OpenedStudy study = open_to_run(recorded, place, options);
    led = std::make_unique<Led>(Led{.place = std::move(place), .study = std::move(study)});
  }
  return py::make_tuple(std::move(led), notes);
}

py::tuple ended(const StudySummary& summary) { return py::make_tuple(to_text(summary.end), summary.reason); }

// (how it ended, why). Without a pool others train.
py::tuple run_led(Led& led,
                  std::optional<int> slots,
                  const std::optional<py::function>& make_pool,
                  const py::function& look) {
  require(led.study.has_value(), "this study was run already");
  Talk talk;
  RunOptions options{.interrupt = &talk.leave, .version = BAPI_VERSION, .remark = talk.tell()};
  if (make_pool) {
    options.cluster.worker = [&](const std::filesystem::path&) {
      return std::make_unique<WorkerThread>(led.place, slots, *make_pool, talk);
    };
  }
  return ended(beside_python(
      [&] {
        OpenedStudy study = std::move(*led.study);
        led.study.reset();
        return run_opened(std::move(study), options);
      },
      talk,
      look));
}

// For a study that nobody leads.
py::tuple lead_there(const std::string& text, const py::function& look) {
  const StudyPlace place = database_place(text);
  Talk talk;
  RunOptions options{.interrupt = &talk.leave, .version = BAPI_VERSION, .remark = talk.tell()};
  options.cluster.programs = OwnPrograms{};  // who trains with a function runs nothing that the database says
  return ended(beside_python([&] { return lead_study(place.database(), options); }, talk, look));
}

WorkOptions::Checkpoints checkpoints_named(const std::string& where) {
  if (where == "shared") return WorkOptions::Checkpoints::shared;
  if (where == "local") return WorkOptions::Checkpoints::local;
  require(where == "carried", fmt::format("checkpoints: found '{}', expected shared or local", where));
  return WorkOptions::Checkpoints::carried;
}

struct WorkArguments {
  std::optional<int> slots;
  std::string checkpoints;
  std::string directory;
  std::string scratch;
  std::vector<std::string> lead;  // a command
  std::string patience = {};
};

// Whether the study has finished; else the worker was told to leave.
bool work_there(const std::string& text,
                const WorkArguments& arguments,
                const py::function& make_pool,
                const py::function& look) {
  const DatabaseStudy study = database_place(text).database();
  std::vector<std::string> lead = arguments.lead;
  if (!lead.empty()) lead.push_back("#" + study.name);
  Talk talk;
  const SystemClock clock;
  const WorkOptions options{.slots = arguments.slots,
                            .checkpoints = checkpoints_named(arguments.checkpoints),
                            .dir = arguments.directory,
                            .scratch = arguments.scratch,
                            .lead = std::move(lead),
                            .leave = &talk.leave,
                            .tell = talk.tell(),
                            .patience = parse_duration(arguments.patience, "patience"),
                            .version = BAPI_VERSION};
  const Trainer trainer = function_trainer(study, make_pool, clock, talk.abort);
  const WorkerEnd end = beside_python([&] { return work_on_study(study, options, trainer); }, talk, look);
  return end == WorkerEnd::finished;
}

}  // namespace

void bind_cluster(py::module_& module) {
  py::class_<Site>(module, "Site")
      .def_property_readonly("spec", [](const Site& site) { return site.spec; })
      .def("about", [](const Site& site) { return about_record(site.spec); })
      .def("trial_dir", &Site::trial_dir);
  py::class_<Led>(module, "Led")
      .def("run", &run_led, py::arg("slots"), py::arg("make_pool"), py::arg("look"))
      .def("close", [](Led& led) {
        const py::gil_scoped_release free;
        led.study.reset();
      });
  module.def("open_to_lead", &open_to_lead, py::arg("spec"), py::arg("study"), py::arg("files"));
  module.def("place_of", [](const std::string& text) {
    const DatabaseStudy study = database_place(text).database();
    return std::pair(study.database.with_password(), study.name);
  });
  module.def("lead", &lead_there, py::arg("study"), py::arg("look"));
  module.def(
      "work",
      [](const std::string& study,
         std::optional<int> slots,
         const std::string& checkpoints,
         const std::string& directory,
         const std::string& scratch,
         const std::vector<std::string>& lead,
         const std::string& patience,
         const py::function& make_pool,
         const py::function& look) {
        return work_there(study,
                          {.slots = slots,
                           .checkpoints = checkpoints,
                           .directory = directory,
                           .scratch = scratch,
                           .lead = lead,
                           .patience = patience},
                          make_pool,
                          look);
      },
      py::arg("study"),
      py::kw_only(),
      py::arg("slots"),
      py::arg("checkpoints"),
      py::arg("directory"),
      py::arg("scratch"),
      py::arg("lead"),
      py::arg("patience"),
      py::arg("make_pool"),
      py::arg("look"));
}

}  // namespace bapi::python
