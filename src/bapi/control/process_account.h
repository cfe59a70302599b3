#pragma once

#include <string>
#include <variant>
#include <vector>

#include "bapi/control/evaluator.h"
#include "bapi/control/report_parser.h"
#include "bapi/study/event.h"
#include "bapi/study/spec.h"
#include "bapi/study/trial.h"

namespace bapi {

// No single charge may be larger, so that the sum of all charges of a study is finite.
inline constexpr Cost kLargestCharge = 1e15;

// Whether a cost may be charged: finite, 0 or more, at most kLargestCharge.
inline bool is_chargeable(Cost cost) { return cost >= 0.0 && cost <= kLargestCharge; }

// What an epoch of the curve usually costs: the lower quartile; 0 for an empty one. The median will not do, because the
// first epoch of every process that does not say when it is ready has its start-up in it, and a trial may consist of
// few others.
Cost usual_epoch_cost(const Curve& curve);

// How the cost of an epoch is known where time is the cost: it took until an instant, or its cost is stated.
struct MeasuredTime {
  double until = 0.0;
};
struct StatedCost {
  Cost cost = 0.0;     // stated by the caller, recorded to the last bit
  double until = 0.0;  // the time up to here is paid by it
};
using CostSource = std::variant<MeasuredTime, StatedCost>;

// Why a trial fails whose training ended in order, but without a result.
inline constexpr const char* kNoEpochReported = "training ended without having reported an epoch";

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
  FailureCause cause = FailureCause::other;  // of a failure
  std::vector<Event> facts = {};             // in order
};

// The account of one process: turns what it reports, and when, into facts. Every instant of its life is charged exactly
// once where time is the cost:
//
//   start |- start-up -| ready |- epoch -| report |- epoch -| report |- unfinished, grace or failed -| gone
//
// Without a ready mark the first interval belongs to the epoch, or, if the trial's epochs are known to be cheaper, is
// split into what these usually cost and start-up. A stated cost is never split. An epoch
// that is on the curve already is a repeat. Where epochs are counted or their cost is reported, only reports are
// charged. No files, no clock: instants are handed in, in seconds.
//
// A process that continues a trial may begin after epochs that an earlier one saved and never reported, at most
// `most_unreported` of them. Their time was charged when it passed. Where epochs are counted each of them is charged
// now, and where costs are reported each at the cost of the epoch that is reported after them; once, whatever happens
// later.
class ProcessAccount {
 public:
  struct Opening {
    // The trial, as the log has it when the process begins.
    TrialId trial{};
    Epoch last_epoch = 0;    // on its curve
    Epoch paid = 0;          // that was charged, if it is past `last_epoch`: trained, but not reported
    Cost usual_epoch = 0.0;  // what an epoch of it usually costs; 0 if nothing is known
    Cost spent = 0.0;        // everything that it was charged

    // The process.
    Epoch from = 0;          // what the program was told
    bool continued = false;  // its first report may be past the next epoch: others were saved and not reported
    Epoch most_unreported = kMostUnreported;  // so many
    Epoch max_epoch = 0;                      // the last epoch that may be recorded
    double charged_until = 0;                 // the instant of its start, or that up to which its time is in the log
    Epoch reported = 0;                       // the last epoch it has reported; 0 if none
    bool training = false;                    // start-up is over

    // Of a process that trains `segment` from now on; `from` is what the program was told.
    static Opening of(const Segment& segment, Epoch from, double now);
  };

  ProcessAccount(const StudySpec& spec, const Opening& opening);

  // Instants must not run backwards.
  Reading take(const ReportLine& report, double at);
  Reading take_epoch(const EpochReport& report, const CostSource& cost);

  // The process is gone, or what it did since the last charge was of this kind.
  std::vector<Event> close(OverheadKind kind, double at);

  // For so many seconds since the last charge it was held: they are of this kind, the others stay what they are.
  std::vector<Event> held_for(OverheadKind kind, double seconds);

  // There was no process until this instant: the wait for a machine costs nothing.
  void begin_at(double at) { charged_until_ = std::max(charged_until_, at); }

  // The log goes on from here: a controller may have left out what the budget could not pay.
  void continue_from(Epoch last_epoch, Epoch paid, Cost spent);

  // The last epoch that may be reported next.
  Epoch furthest_report() const;
  void raise_max_epoch(Epoch max_epoch) { max_epoch_ = max_epoch; }

  Epoch last_epoch() const { return last_epoch_; }             // on the curve, with every fact given so far
  Epoch paid() const { return std::max(paid_, last_epoch_); }  // the same, with epochs charged as unreported
  Cost spent() const { return spent_; }                        // by the trial, with every fact given so far
  double charged_until() const { return charged_until_; }

  // What a report costs where costs are counted or reported; 0 where time is the cost and for what is not charged.
  Cost price(const EpochReport& report) const;

 private:
  std::string mistake(const EpochReport& report) const;
  bool marks_start(const EpochReport& report) const;
  bool is_beyond(const EpochReport& report) const;
  bool is_divergence(const EpochReport& report) const;
  std::vector<Event> charge_failure(const EpochReport& report, const CostSource& cost);
  std::vector<Event> charge_epoch(const EpochReport& report, const CostSource& cost);
  std::vector<Event> charge_unreported(const EpochReport& report);
  std::vector<Event> start_up_over(double at);
  std::vector<Event> overhead(OverheadKind kind, Epoch epoch, Cost cost);

  const StudySpec& spec_;
  TrialId trial_;
  Epoch last_epoch_;
  Epoch paid_;
  Cost usual_epoch_;
  Cost spent_;
  Epoch from_;
  bool continued_;
  Epoch most_unreported_;
  Epoch max_epoch_;
  double charged_until_;
  Epoch reported_;
  bool training_;
};

}  // namespace bapi
