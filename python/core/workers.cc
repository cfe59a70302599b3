#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bapi/base/error.h"
#include "bapi/control/tune.h"
#include "bapi/control/worker_evaluator.h"
#include "bapi/process/gpus.h"
#include "bapi/process/guarded_workers.h"
#include "bapi/store/snapshot.h"
#include "bindings.h"
#include "python_workers.h"
#include "segment_record.h"
#include "study_handle.h"

namespace bapi::python {

namespace py = pybind11;

namespace {}  // namespace

PythonWorkers::PythonWorkers(py::object pool, const StudySpec& spec, const std::atomic<bool>* abort)
    : pool_(std::move(pool)), spec_(spec), abort_(abort) {}

void PythonWorkers::start(const Segment& segment) {
  const py::gil_scoped_acquire lock;
  pool_.attr("start")(segment_record(spec_, segment));
}

void PythonWorkers::answer(TrialId trial, const WorkerAnswer& answer) {
  const py::gil_scoped_acquire lock;
  pool_.attr("answer")(index(trial), std::string(to_string(answer.kind)), answer.until, answer.message);
}

void PythonWorkers::kill(TrialId trial) {
  const py::gil_scoped_acquire lock;
  pool_.attr("kill")(index(trial));
}

std::vector<WorkerMessage> PythonWorkers::wait(double seconds) {
  if (abort_ && abort_->load()) throw Error("the worker was ended");
  const py::gil_scoped_acquire lock;
  std::vector<WorkerMessage> messages = pool_.attr("wait")(seconds).cast<std::vector<WorkerMessage>>();
  interrupted_ = pool_.attr("interrupted").cast<bool>();
  return messages;
}

const char* to_text(TuneEnd end) {
  switch (end) {
    case TuneEnd::finished:
      return "finished";
    case TuneEnd::interrupted:
      return "interrupted";
    case TuneEnd::too_many_failures:
      return "too many failures";
    case TuneEnd::program_failed:
      return "program failed";
  }
  return "";
}

namespace {

// (how it ended, why). Nobody else has the study while the loop runs. Workers without a guard are on other machines.
py::tuple tune_in_workers(StudyHandle& study, const py::object& pool, const py::function& observe) {
  PythonWorkers workers(pool, study.spec());
  auto* guard = pool.attr("guard").cast<WorkerGuard*>();
  TuneSummary summary;
  {
    const py::gil_scoped_release free;
    summary = study.tune(workers,
                         guard,
                         {.interrupt = workers.interrupted(),
                          .observer =
                              [&](const Session&, const Evaluator&) {
                                const py::gil_scoped_acquire lock;
                                observe();
                              },
                          .thought = TuneOptions::Thought::beside_the_loop});
  }
  return py::make_tuple(to_text(summary.end), summary.reason);
}

// The variables that the worker of this number gets: BAPI_WORKER, and which GPU is its own.
std::map<std::string, std::string> variables_of_worker(const StudySpec& spec, int worker) {
  const Environment variables = worker_environment(worker, gpus_of(spec, Machine::this_one()));
  return {variables.begin(), variables.end()};
}

template <typename What>
WorkerMessage message(std::int64_t trial, double age, const What& what) {
  return {.trial = TrialId{trial}, .age = age, .what = what};
}

}  // namespace

void bind_workers(py::module_& module) {
  using Number = std::int64_t;
  py::class_<WorkerMessage>(module, "WorkerMessage")
      .def_static("ready", [](Number trial, double age) { return message(trial, age, WorkerReady{}); })
      .def_static("report",
                  [](Number trial,
                     double age,
                     Epoch epoch,
                     double value,
                     std::optional<Cost> cost,
                     const OtherMetrics& others,
                     double saving) {
                    return message(
                        trial,
                        age,
                        WorkerReport{.epoch = epoch, .value = value, .cost = cost, .others = others, .saving = saving});
                  })
      .def_static("returned", [](Number trial, double age) { return message(trial, age, WorkerReturned{}); })
      .def_static("raised",
                  [](Number trial, double age, const std::string& why, bool caught) {
                    return message(trial, age, WorkerRaised{.message = why, .caught = caught});
                  })
      .def_static("died", [](Number trial, const std::string& how) { return message(trial, 0.0, WorkerDied{how}); })
      .def_static("lost", [](Number trial, const std::string& how) { return message(trial, 0.0, WorkerLost{how}); })
      .def_static("waits", [](Number trial, double age) { return message(trial, age, WorkerWaits{}); })
      .def_static("placed", [](Number trial, double age) { return message(trial, age, WorkerPlaced{}); });
  py::class_<BestModelSaver>(module, "BestModelSaver")
      .def(py::init([](const std::string& directory,
                       const std::string& goal,
                       int smooth,
                       const std::string& of,
                       std::vector<double> recent) {
             const Metric metric{
                 .goal = value_named<Goal>(goal).value(), .smooth = smooth, .of = value_named<ValueOf>(of).value()};
             return BestModelSaver(TrialDir{directory}, metric, std::move(recent));
           }),
           py::arg("directory"),
           py::arg("goal"),
           py::arg("smooth"),
           py::arg("of"),
           py::arg("recent"))
      .def("reported", &BestModelSaver::reported, py::call_guard<py::gil_scoped_release>());
  module.def("worker_environment", &variables_of_worker, py::arg("spec"), py::arg("worker"));
  py::class_<WorkerGuard>(module, "WorkerGuard")
      .def(py::init<const StudySpec&>())
      .def("marks", &WorkerGuard::marks)
      .def("watch", &WorkerGuard::watch)
      .def("kill", &WorkerGuard::kill)
      .def("forget", &WorkerGuard::forget, py::call_guard<py::gil_scoped_release>());
  module.def("tune_in_workers", &tune_in_workers, py::arg("study"), py::arg("pool"), py::arg("observe"));
}

}  // namespace bapi::python
