#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/control/evaluator.h"
#include "bapi/policy/policy.h"
#include "bapi/store/log_writer.h"
#include "bapi/store/wish_box.h"
#include "bapi/study/repeats.h"

namespace bapi {

// What to do next: train a segment, let a trial go, wait for a report, or end.
using Action = std::variant<Segment, Stop, Wait, Finish>;

// What somebody else has trained; see Session::adopt.
struct OutsideTrial {
  enum class End { completed, paused, failed };
  Config config = {};
  std::vector<Measurement> curve = {};
  End end = End::completed;
  std::string message = {};  // why it failed
};

// A log that was read: what it adds up to, when it began and where it ends.
struct Past {
  History history;
  std::optional<double> began = {};  // when the first decision was written
  EventSeq last = 0;
};
Past past_of(History history, std::span<const StoredEvent> events);  // `history` is what they add up to

// The controller's view of one study: asks the policy, keeps the budget's promise, writes everything to the store.
//
// What enters the log can follow what it holds, and has no rival (LogWriter): a decision or fact that cannot is a bug
// of the policy or the evaluator; it throws LogicError, and nothing is written.
//
// When the policy has nothing to do that fits what the search may spend, the finalists are trained again, where the
// study says so (study/repeats.h); the policy is not asked until the budget is changed.
//
// Nothing is acted upon before it is durable: `ask` returns after the decision is in the log. Where the cost of an
// epoch is counted or reported, a segment is shortened to what the budget is expected to pay; when not even one epoch
// fits, the answer is Wait (something runs) or Finish. What the budget does not pay for is not recorded: see
// `payable_facts`.
class Session {
 public:
  // Reads the log. Throws StoreError if it is damaged.
  Session(Store& store, Policy& policy, const Clock& clock);
  Session(Store& store, Policy& policy, const Clock& clock, Past past);  // the caller has read it

  // Shows every further event to `listener`. For progress displays, and for those who keep the log in memory.
  void listen(EventListener listener) { log_.listen(std::move(listener)); }

  // Takes requests of others from here before every new trial.
  void serve(WishBox wishes) { wishes_.emplace(std::move(wishes)); }

  // The next decision. A new trial tries the first configuration that was asked for and not tried yet, in the study
  // file (`try`, then the best of the studies in `from`), by `enqueue` or by a request, instead of what the policy
  // proposes; values that it leaves open are the policy's, and so are length and bookkeeping.
  Action ask() { return decided(think()); }
  void enqueue(const Config& wish, const std::string& by);  // InvalidInput if it does not fit the space

  // The same in two steps. `think` asks the policy and changes nothing, so that it may be called in another thread;
  // until `decided` is given its answer nothing may be recorded, because a decision depends on the log before it alone.
  Decision think() const;
  Action decided(const Decision& decision);

  void stop(TrialId trial);  // for good, because the user asks for it; LogicError if it is over

  void record(std::span<const Event> facts);  // survives the death of this process when it returns

  // A trial that was trained elsewhere: its configuration, its curve (in the user's direction, epochs 1, 2, ...) and
  // how it ended. Charged to the budget like any other. Throws InvalidInput if it does not fit the study.
  TrialId adopt(const OutsideTrial& trial);

  // Every segment that is open and runs was broken off; it is continued before anything new is decided.
  void interrupt(const std::string& reason);

  // Ends the study, whatever the policy would say (budget spent, deadline). No effect on a finished one.
  void finish(const std::string& reason);

  // Segments that were open when the log was read: to be continued before anything new is decided.
  std::vector<Segment> open_segments() const;
  Segment open_segment(TrialId trial) const;  // the same of one trial; LogicError if it has none

  // A segment that was decided, as the log has it by now.
  Segment renewed(const Segment& segment) const { return segment_of(history().trial(segment.trial)); }

  const History& history() const { return log_.history(); }

  // When the first decision was written, or the session made if there is none yet. The deadline counts from here.
  double started_at() const { return started_at_; }

 private:
  void take_requests();
  Start with_wish(Start start) const;
  Action train(const Start& start);
  Action train(const Resume& resume);
  Segment segment_of(const Trial& trial) const;
  // Asked of what the policy wants, before the budget shortens it: a mistake must not pass for an empty budget.
  void refuse_unlawful(const Event& decision) const;
  void decide(const Event& decision);  // the policy's
  void decide(const Event& decision, std::string_view by);
  Action wait_or_finish(const std::string& reason);
  Action train(const RepeatStep& step);

  Policy& policy_;
  const Clock& clock_;
  LogWriter log_;
  double started_at_;
  std::optional<WishBox> wishes_;
};

}  // namespace bapi
