#pragma once

#include <cstddef>
#include <optional>

#include "bapi/policy/decision.h"
#include "bapi/study/history.h"

namespace bapi {

// The runs that a model is first fitted to: configurations of the study's own random sequence, most of them short.
struct InitialDesign {
  std::optional<int> runs = {};   // by default one more than there are parameters
  double epochs = 0.1;            // share of all epochs that a run gets
  int full_runs = 0;              // of the runs, the best so many are trained on to the end once all have had theirs
  double budget_share = 1.0;      // no further run is begun once this share is spent; 1: no bound but the budget itself
  bool until_told_apart = false;  // while a rung does not tell trials apart, a few of them go on to the next

  // Whether something of it is still to be begun, and the share of the budget is not used up by what was spent and what
  // is running, at the mean cost of an epoch so far. Before any cost is known every worker gets one run; the very first
  // is always begun.
  bool unfinished(const History& history) const;
  Epoch first_rung(const StudySpec& spec) const;  // epochs of a short run

  // Epochs that a new trial gets to begin with: those of a short run; where these do not tell trials apart (see
  // tells_apart()), as many more as do, or the next rung while none has been trained so far.
  Epoch first_telling(const History& history) const;
  Decision next(const History& history) const;  // a further run, or one of the best trained on

 private:
  std::ptrdiff_t wanted(const StudySpec& spec) const;
  bool wants_full_run(const History& history) const;
  Epoch telling_rung(const History& history) const;                    // the first that is not known to tell nothing
  std::optional<Resume> further_epochs(const History& history) const;  // until the trials are told apart
  Decision further_run(const History& history) const;
  Decision full_run(const History& history) const;  // of the best that is waiting, once all have had their epochs
  bool fits_its_share(const History& history) const;
};

}  // namespace bapi
