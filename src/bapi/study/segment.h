#pragma once

#include <span>
#include <vector>

#include "bapi/study/event.h"

namespace bapi {

// A stretch of training: epochs (from, until] of one trial, with what the log holds of it.
struct Segment {
  TrialId trial{};
  Config config = {};
  Epoch from = 0;
  Epoch until = 0;
  Epoch max_epoch = 0;              // last epoch that the budget can still pay for; at least `until`
  Cost budget_left = 0.0;           // for the training program's information
  Cost usual_epoch = 0.0;           // what an epoch of the trial usually costs; 0 if nothing is known
  Cost spent = 0.0;                 // everything that the trial was charged so far
  Epoch paid = 0;                   // the last epoch that was charged; past `from` if it was trained and never reported
  std::vector<double> recent = {};  // its last reports, in the user's direction: as many as smoothing needs
  bool continued = false;           // an earlier process may have saved epochs that it did not report
  Epoch most_unreported = kMostUnreported;  // of these: more if it was lost with its reports
  bool operator==(const Segment&) const = default;
};

// The same segment after further facts, of which those of its trial count: what the log will hold of it once they are
// recorded. `smooth` is that of the study's metric.
Segment advanced(Segment segment, std::span<const Event> facts, int smooth);

}  // namespace bapi
