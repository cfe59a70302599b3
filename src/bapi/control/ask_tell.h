#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bapi/control/process_account.h"
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
  double waited = 0.0;            // seconds that the report was under way; charged as start-up, not as training
};

struct AskTellOptions {
  // Whether the caller can end an epoch in progress. One who cannot is not told to begin an epoch that is expected not
  // to fit a budget in seconds; one who can calls `finish` when `seconds_to_limit` are over.
  enum class Cut { between_epochs, any_time };
  Cut cut = Cut::between_epochs;
};

// The session for callers who train by themselves, in this process or in workers of their own: asks for a segment,
// tells each epoch, is told whether to go on. Everything told is in the log when the call returns.
//
// The caller may have as many segments out as the study has workers. What the log has left open is handed out first.
// With a budget in seconds the time from `ask` to the first report, and between reports, is the cost of the epochs; the
// time that decisions take is charged as start-up of the trial they lead to, so that the budget of one worker is the
// time it takes.
class AskTell {
 public:
  AskTell(Session& session, const Clock& clock, AskTellOptions options = {});

  // The next segment to be trained. nullopt: nothing until something that is out reports, or, if ended(), at all.
  std::optional<Segment> ask();

  // An epoch of a trial that is out. When its segment is over, decides: on go_on, `until` of the trial has grown. A
  // value that is not finite fails the trial. Throws InvalidInput, and records nothing, if the trial is not out, if the
  // epoch is past the next one, or if the budget needs a cost.
  Advice report(TrialId trial, const EpochResult& result);

  TrialId adopt(const OutsideTrial& trial) { return session_.adopt(trial); }

  // What a trial that is out cost besides its epochs (loading data, a cluster's start), in the budget's unit: charged
  // as start-up. For callers who give costs themselves; measured time is charged anyway.
  void charge(TrialId trial, Cost cost);

  void ready(TrialId trial);                             // what was waited for since `ask` was start-up, not training
  void fail(TrialId trial, const std::string& message);  // training crashed; charges the time since the last report
  void complete(TrialId trial);                          // training is over although epochs are left; fails if none was
  void put_back(TrialId trial, const std::string& reason);  // the segment stays open and is handed out again
  void pause(const std::string& reason);                    // puts everything back
  void finish(const std::string& reason);                   // the same, and ends the study

  bool is_out(TrialId trial) const { return out_.contains(trial); }

  // Nothing will be handed out any more: the study is finished, or too many trials have failed in a row.
  bool ended() const;
  std::string end_reason() const;
  bool gave_up() const;  // too many failures; the study itself is not finished

  // Until the budget or the deadline forces an end, with what is out now running on. Large if nothing does.
  double seconds_to_limit() const;

 private:
  // The books of a trial that is out. Time that the caller priced itself is taken out of the account's clock.
  struct Out {
    TrialProgress progress;
    std::unique_ptr<ProcessAccount> account;
    double shift = 0.0;
    std::vector<Event> unrecorded;
  };
  struct Decided {
    Segment segment;
    double seconds = 0.0;  // that the decision took
  };

  const History& history() const { return session_.history(); }
  Out& out(TrialId trial);
  void hand_out(const Decided& decided);
  void decide();
  void take_back(TrialId trial, OverheadKind kind, const Event& end);
  Reading take(Out& out, TrialId trial, const EpochResult& result);
  Advice advise(TrialId trial);
  Advice let_go(TrialId trial);
  bool chosen_again(TrialId trial);
  void interrupt(TrialId trial, const std::string& reason);
  void require_next(TrialId trial, const EpochResult& result) const;
  std::string limit_reached() const;
  Cost accrued() const;
  bool next_epoch_fits(TrialId trial) const;
  void close_if_idle();

  Session& session_;
  const Clock& clock_;
  AskTellOptions options_;
  std::deque<Decided> decided_;  // to be handed out
  std::map<TrialId, Out> out_;
  std::string ending_;  // why nothing is begun any more, while something is still out
  int failures_before_;
};

}  // namespace bapi
