#pragma once

#include <vector>

#include "bapi/gp/fit.h"
#include "bapi/gp/response.h"
#include "bapi/model/prognosis.h"
#include "bapi/study/history.h"
#include "bapi/study/reason.h"

namespace bapi {

// What a model says of a value, standardised.
struct Expected {
  Epoch epoch = 0;
  double mean = 0.0;
  double sd = 0.0;                     // as the score uses it
  double measured_sd = 0.0;            // of what will be measured, noise included
  ErrorLaw errors = {};                // in units of measured_sd
  double best = 0.0;                   // so far
  double target = 0.0;                 // from where improvement counts
  std::optional<double> reached = {};  // by the trial so far, where the value cannot fall below it
};

// The same in the unit of the metric and the user's direction: its mean, quantiles and the numbers of the score.
Forecast forecast_of(const History& history, const ResponseScale& scale, const Expected& expected);

// What the log keeps of a law: its numbers at the i-th epoch. `best` and `target` are standardised.
Forecast forecast_of(const History& history,
                     const ResponseScale& scale,
                     const Prognosis& law,
                     Eigen::Index i,
                     const ScoreBasis& basis,
                     double best);

// The logarithm of an improvement on `best`, or on what lies above it, from the scale of the model to the unit of the
// metric: there the warp is straight.
Score score_in_metric(const ResponseScale& scale, double best, double log_improvement);

// What is worth knowing of the fit of a model: that it did not converge, that its covariance needed help, and what
// weights the studies of a warm start have.
std::vector<Note> notes_of(const FitSummary& fit);

// That the data contradict the assumption of monotone curves, by the log probability of the constraint.
std::vector<Note> notes_of_constraint(double log_probability);

}  // namespace bapi
