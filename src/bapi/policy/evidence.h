#pragma once

#include <vector>

#include "bapi/gp/response.h"
#include "bapi/model/configuration_model.h"
#include "bapi/model/failure_model.h"
#include "bapi/model/learning_curve.h"
#include "bapi/study/history.h"

namespace bapi {

// The curve of a trial in the models' rows.
inline CurveId curve_of(TrialId trial) { return static_cast<CurveId>(index(trial)); }

// What a history says, as models want it: one pass for each decision, every configuration encoded once. Refers to the
// history, which must outlive it and stay as it is.
class Evidence {
 public:
  explicit Evidence(const History& history);

  const History& history() const { return history_; }
  const StudySpec& spec() const { return history_.spec(); }
  CurveEpochs epochs() const { return {.min = spec().epochs.min, .max = spec().epochs.max}; }

  const std::vector<Vector>& x() const { return x_; }                    // of every trial, by number
  const std::vector<LearningCurve>& curves() const { return curves_; }   // of trials with a value, repeats left out
  const std::vector<RunningCurve>& running() const { return running_; }  // trials with an open segment

  CurveAt at(const Trial& trial) const;  // where a trial stands

  // Where trainings fail: scores are multiplied by its probability of success.
  const FailureModel& failures() const { return failures_; }

  // Of the metric, to be maximised: given, or assumed from its name and what was reported.
  ScoreBounds bounds() const;

  // What full trainings left: the best of the epochs of every finished trial.
  Outcomes outcomes() const;

 private:
  const History& history_;
  std::vector<Vector> x_;
  std::vector<LearningCurve> curves_;
  std::vector<RunningCurve> running_;
  FailureModel failures_;
};

}  // namespace bapi
