#pragma once

#include <string>
#include <vector>

#include "bapi/control/report_parser.h"
#include "bapi/study/event.h"
#include "bapi/study/spec.h"
#include "bapi/study/trial.h"

namespace bapi {

// What was told and charged about a trial so far, by all of its processes.
struct TrialProgress {
  std::vector<Cost> epoch_costs;  // of every epoch on its curve
  Cost spent = 0.0;               // overhead included
  Epoch last_epoch() const { return static_cast<Epoch>(epoch_costs.size()); }
};

// What the log holds about a trial.
TrialProgress progress_of(const Trial& trial);

// What became of a report.
struct Reading {
  enum class Kind {
    taken,    // a fact, or the mark that start-up is over
    ignored,  // said twice
    beyond,   // past the last epoch that may be recorded
    failure,  // the trial cannot go on with it; `message` says why
  };
  Kind kind = Kind::taken;
  std::string message = {};
};

// The books of one process: turns what it reports, and when, into facts. Every instant of its life is charged exactly
// once where time is the cost:
//
//   start |- start-up -| ready |- epoch -| report |- epoch -| report |- grace or failed -| gone
//
// Without a ready mark the first interval belongs to the epoch, or, if the trial's epochs are known to be cheaper, is
// split into what these usually cost and start-up. An epoch that is on the curve already is a repeat. Where epochs are
// counted or their cost is reported, only reports are charged. No files, no clock: instants are handed in, in seconds.
class ProcessAccount {
 public:
  struct Opening {
    TrialId trial{};
    Epoch from = 0;            // what the program was told
    Epoch max_epoch = 0;       // the last epoch that may be recorded
    double charged_until = 0;  // the instant of its start, or that up to which its time is in the log
    Epoch reported = 0;        // the last epoch it has reported; 0 if none
    bool training = false;     // start-up is over
  };

  ProcessAccount(const StudySpec& spec, TrialProgress& progress, const Opening& opening);

  // Facts are appended to `facts`, in order. `at` must not run backwards.
  Reading take(const ReportLine& report, double at, std::vector<Event>& facts);

  // The process is gone.
  void close(OverheadKind kind, double at, std::vector<Event>& facts);

  void raise_max_epoch(Epoch max_epoch) { max_epoch_ = max_epoch; }
  double charged_until() const { return charged_until_; }

  // What a report costs where costs are counted or reported; 0 where time is the cost and for what is not charged.
  Cost price(const EpochReport& report) const;

 private:
  Reading take_epoch(const EpochReport& report, double at, std::vector<Event>& facts);
  std::string mistake(const EpochReport& report) const;
  bool marks_start(const EpochReport& report) const;
  Cost charge_interval(Epoch epoch, double at, std::vector<Event>& facts);
  void start_up_over(double at, std::vector<Event>& facts);
  void overhead(OverheadKind kind, Epoch epoch, Cost cost, std::vector<Event>& facts);

  const StudySpec& spec_;
  TrialProgress& progress_;
  TrialId trial_;
  Epoch from_;
  Epoch max_epoch_;
  double charged_until_;
  Epoch reported_;
  bool training_;
  Cost usual_epoch_;  // cost of the trial's epochs before this process; 0 if there are none
};

}  // namespace bapi
