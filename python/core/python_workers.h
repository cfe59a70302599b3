#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <vector>

#include "bapi/control/tune.h"
#include "bapi/control/worker_evaluator.h"

namespace bapi::python {

// The workers of the class WorkerPool of bapi/_workers.py. The loop runs without the interpreter's lock; every call
// here takes it.
class PythonWorkers : public WorkerPool {
 public:
  // Refers to specification and `abort`: once that is true, a wait throws Error.
  PythonWorkers(pybind11::object pool, const StudySpec& spec, const std::atomic<bool>* abort = nullptr);

  void start(const Segment& segment) override;
  void answer(TrialId trial, const WorkerAnswer& answer) override;
  void kill(TrialId trial) override;
  std::vector<WorkerMessage> wait(double seconds) override;

  const std::atomic<bool>* interrupted() const { return &interrupted_; }

 private:
  pybind11::object pool_;
  const StudySpec& spec_;
  const std::atomic<bool>* abort_;
  std::atomic<bool> interrupted_ = false;
};

const char* to_text(TuneEnd end);  // "finished", "interrupted", "program failed", "too many failures"

}  // namespace bapi::python
