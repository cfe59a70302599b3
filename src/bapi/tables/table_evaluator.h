#pragma once

#include <functional>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/control/evaluator.h"
#include "bapi/tables/curve_table.h"

namespace bapi {

struct TableEvaluatorOptions {
  // Simulated time that a start of a segment takes the one controller, asked for at each; charged to the trial as
  // start-up. Without, none.
  std::function<Cost()> overhead = {};
};

// Recorded curves in simulated time: `wait` moves the clock to the next report. Time and cost are the same thing here,
// one unit of cost per unit of time and worker. A crash in the record is a TrialFailed, a short record a ProgramEnded.
class TableEvaluator : public Evaluator {
 public:
  TableEvaluator(const CurveTable& table,
                 const StudySpec& spec,
                 ManualClock& clock,
                 TableEvaluatorOptions options = {});

  int slots() const override { return spec_.workers; }
  void start(const Segment& segment) override;
  void release(TrialId trial) override;
  std::vector<TrialId> live() const override;
  std::vector<Event> wait(double seconds) override;
  Running running() const override;

 private:
  struct Job {
    TrialId trial{};
    CurveTable::Run run;
    Epoch recorded = 0;  // epochs in the trial's curve
    Epoch trained = 0;   // of this attempt; below `recorded` while epochs are repeated
    Epoch until = 0;
    double since = 0.0;  // when the unrecorded cost began to accrue
    double ready = 0.0;  // when the controller lets it begin
    std::int64_t order = 0;
    bool idle = false;  // reached `until`, waits for a decision
  };

  double due(const Job& job) const;
  std::vector<Event> advance(Job& job);  // to its next epoch or its end: the facts
  Job* find(TrialId trial);

  const CurveTable& table_;
  const StudySpec spec_;
  ManualClock& clock_;
  TableEvaluatorOptions options_;
  std::vector<Job> jobs_;
  std::vector<Event> pending_;  // facts of released trials
  double controller_free_ = 0.0;
  std::int64_t started_ = 0;
};

}  // namespace bapi
