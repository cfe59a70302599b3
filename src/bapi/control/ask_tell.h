#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bapi/control/allowance.h"
#include "bapi/control/process_account.h"
#include "bapi/control/requests.h"
#include "bapi/control/session.h"

namespace bapi {

// How a training loop goes on after an epoch.
enum class Advice {
  go_on,  // train the next epoch
  pause,  // end here; the trial may be resumed later, from its checkpoint
  stop,   // end here for good
};

std::string_view to_string(Advice advice);  // "continue", "pause", "stop"

// What came out of an epoch.
struct EpochResult {
  Epoch epoch = 0;
  double value = 0.0;             // in the user's direction
  std::optional<Cost> cost = {};  // in the budget's unit; without it, time is measured and epochs count 1
  OtherMetrics others = {};
};

// The session for callers who train by themselves: ask for a segment, report each epoch, put back what cannot be
// trained. Everything told is in the log when the call returns.
//
// The caller may train as many segments at a time as the study has workers. What the log has left open is handed out
// first. With a budget in seconds the time from `ask` to the first report, and between reports, is the cost of the
// epochs, unless the caller states another; the time that decisions take is charged as start-up of the trial they lead
// to, so that the budget of one worker is the time it takes. An epoch in progress cannot be ended from here, so none is
// begun that is not expected to fit.
class AskTell {
 public:
  AskTell(Session& session, const Clock& clock);

  // The next segment to be trained. nullopt: nothing until a trial that is handed out reports, or, if ended(), at all.
  std::optional<Segment> ask();

  // An epoch of a trial that is handed out. When its segment is over, decides: on go_on, `until` of the trial has
  // grown. A value that is not finite fails the trial. Throws InvalidInput, and records nothing, if the trial is not
  // handed out, if the epoch is past the next one, if the budget needs a cost, or if the cost cannot be charged.
  Advice report(TrialId trial, const EpochResult& result);

  // Keeps the model of an epoch that is in the log, while training waits for the answer. What that takes is charged,
  // unless the caller states costs.
  using ModelSaver = std::function<void(TrialId trial, const EpochResult& result)>;
  void keep_models(ModelSaver saver) { save_model_ = std::move(saver); }

  // Takes up what users ask for, before a segment is handed out and after every report.
  void attend_to(std::function<Attended()> requests) { requests_ = std::move(requests); }
  bool asked_to_pause() const { return asked_to_pause_; }  // by a user: nothing is handed out any more

  TrialId adopt(const OutsideTrial& trial) { return session_.adopt(trial); }

  // What a trial that is handed out cost besides its epochs (loading data, a cluster's start), in the budget's unit:
  // charged as start-up. For callers who give costs themselves; measured time is charged anyway.
  void charge(TrialId trial, Cost cost);

  // A trial that is handed out waits for a machine, which costs nothing until it is `placed` or reports.
  void wait_for_place(TrialId trial);
  void placed(TrialId trial);

  // What the caller calls a trial, so that the next process finds it again: other_names (study/user_request.h).
  void name(TrialId trial, const std::string& name);

  void fail(TrialId trial, const std::string& message);  // training crashed; charges the time since the last report
  void complete(TrialId trial);                          // training is over although epochs are left; fails if none was
  void put_back(TrialId trial, const std::string& reason);  // the segment stays open and is handed out again
  void pause(const std::string& reason);                    // puts everything back
  void finish(const std::string& reason);                   // the same, and ends the study

  bool is_handed_out(TrialId trial) const { return handed_out_.contains(trial); }

  // Nothing will be handed out any more: the study is finished, or too many trials have failed in a row.
  bool ended() const;
  std::string end_reason() const;
  bool gave_up() const;  // too many failures; the study itself is not finished

 private:
  struct HandedOut {
    ProcessAccount account;
    std::vector<Event> unrecorded;
    bool waits_for_place = false;
  };
  struct Decided {
    Segment segment;
    double seconds = 0.0;  // that the decision took
  };

  const History& history() const { return session_.history(); }
  HandedOut& handed_out(TrialId trial);
  void hand_out(const Decided& decided);
  void attend();
  void save_model(TrialId trial, const EpochResult& result);
  void decide();
  void close(TrialId trial, OverheadKind kind, const Event& end);
  void fail(TrialId trial, const std::string& message, FailureCause cause);
  Reading take(ProcessAccount& account, TrialId trial, const EpochResult& result);
  Advice advise(TrialId trial);
  Advice end_here(TrialId trial);
  Advice pause_here(TrialId trial);
  bool chosen_again(TrialId trial);
  void interrupt(TrialId trial, const std::string& reason);
  void require_next(TrialId trial, const EpochResult& result) const;
  Running running() const;
  std::string end_due() const;
  void finish_if_idle();

  Session& session_;
  const Clock& clock_;
  ModelSaver save_model_;
  std::function<Attended()> requests_;
  bool asked_to_pause_ = false;
  std::deque<Decided> decided_;  // to be handed out
  std::map<TrialId, HandedOut> handed_out_;
  std::string ending_;  // why nothing is begun any more, while something is still handed out
  int failures_before_;
};

}  // namespace bapi
