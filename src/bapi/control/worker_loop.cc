#include "bapi/control/worker_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "bapi/base/file.h"
#include "bapi/control/rights.h"

namespace bapi {
namespace {

constexpr double kNextGlance = 0.02;     // seconds between two looks for the order that follows a segment
constexpr double kAskEvery = 1.0;        // seconds: for orders without a notification, for a longer right near its end
constexpr double kFirstRetry = 0.1;      // seconds
constexpr double kLastRetry = 5.0;       // seconds
constexpr double kTellEvery = 60.0;      // seconds
constexpr std::size_t kGathered = 1000;  // facts in a delivery; a program may report faster than anybody reads

bool is_plain(const Event& fact) {
  return std::holds_alternative<Measured>(fact) || std::holds_alternative<Overhead>(fact);
}

double share_of(std::int64_t number) {
  const double golden = 0.6180339887498949 * static_cast<double>(number);
  return golden - std::floor(golden);
}

}  // namespace

// Pauses that grow from one attempt to the next, and differ between workers.
class WorkerLoop::Backoff {
 public:
  explicit Backoff(double share) : share_(share) {}

  // When to try again.
  double after_failure(double now) {
    const double pause = seconds_ * (0.5 + share_);
    seconds_ = std::min(kLastRetry, 2.0 * seconds_);
    return now + pause;
  }
  void succeeded() { seconds_ = kFirstRetry; }

 private:
  double share_;  // from 0 to 1
  double seconds_ = kFirstRetry;
};

// Says why somebody waits, once a minute.
class WorkerLoop::Complaints {
 public:
  explicit Complaints(std::function<void(const std::string&)> remark) : remark_(std::move(remark)) {}
  void say(const std::string& why, double now) {
    if (!remark_ || now < next_) return;
    next_ = now + kTellEvery;
    remark_(why + "; trying again");
  }
  void over() { next_ = -std::numeric_limits<double>::infinity(); }

 private:
  std::function<void(const std::string&)> remark_;
  double next_ = -std::numeric_limits<double>::infinity();
};

// From joining to the end of the lease.
class WorkerLoop::Life {
 public:
  enum class End { finished, left, over };

  Life(WorkerLoop& loop, const Joined& joined, double asked_at)
      : dispatch_(loop.dispatch_),
        clock_(loop.clock_),
        options_(loop.options_),
        id_(joined.worker),
        evaluator_(loop.make_evaluator_()),
        backoff_(share_of(index(joined.worker))),
        complaints_(options_.remark) {
    accept(joined.grant, asked_at);
    counted_at_ = clock_.now();
  }

  End run() {
    while (true) {
      if (clock_.now() >= lease_end_) return End::over;
      if (told_to_leave() && !going_) go(End::left);
      if (evaluator_->out_of_time() && !going_) go(End::over);
      look();
      keep_within_right();
      begin_waiting();
      train();
      deliver();
      if (fenced_) return End::over;
      if (going_ && says_goodbye()) return *going_;
      if (options_.observer) options_.observer();
    }
  }

 private:
  // An order that was seen.
  struct Held {
    std::int64_t number = 0;
    std::optional<Segment> waiting = {};  // to be begun
    bool told_to_end = false;             // without an order: the right ends, or the worker goes
    bool ended_said = false;              // for this number
  };

  bool told_to_leave() const { return options_.leave && options_.leave->load(); }

  double programs_end_at() const { return train_end_ - options_.grace - kRightMargin; }

  bool is_live(TrialId trial) const { return std::ranges::find(live_, trial) != live_.end(); }

  // ---- Orders

  void look() {
    const double now = clock_.now();
    if (now < try_again_at_ || (now < look_at_ && !dispatch_.wait(id_, 0.0))) return;
    try {
      take(dispatch_.look(id_));
      look_at_ = now + kAskEvery;
    } catch (const Shortage& shortage) {
      failed(shortage);
    }
  }

  // Orders go when it was said that their processes have ended. One that is gone before that was forgotten by a
  // database that fell back to an older copy: another worker may be given the trial, so this one begins anew.
  void take(const Instructions& instructions) {
    if (instructions.phase == StudyPhase::finished && !going_) go(End::finished);
    if (!spec_version_) spec_version_ = instructions.spec_version;
    if (*spec_version_ != instructions.spec_version && !going_) go(End::over);
    if (instructions.phase == StudyPhase::open && instructions.leader_silent > kLeaderSilence &&
        options_.leader_missing) {
      options_.leader_missing();
    }
    for (const WorkOrder& order : instructions.orders) take(order);
    const auto ordered = [&](TrialId trial) {
      return std::ranges::any_of(instructions.orders, [&](const WorkOrder& order) { return order.trial == trial; });
    };
    std::erase_if(held_, [&](const auto& held) { return !ordered(held.first) && held.second.ended_said; });
    const bool forgotten = std::ranges::any_of(
        held_, [&](const auto& held) { return !ordered(held.first) && !says_that_it_ended(held.first); });
    if (forgotten && !going_) go(End::over);
  }

  // Of a delivery that may have arrived.
  bool says_that_it_ended(TrialId trial) const {
    return pending_ && std::ranges::any_of(pending_->standings,
                                           [&](const TrialStanding& standing) { return standing.trial == trial; });
  }

  void take(const WorkOrder& order) {
    Held& held = held_[order.trial];
    if (order.number <= held.number) return;
    held = {.number = order.number};
    if (order.command == OrderCommand::train) {
      held.waiting = advanced(order.segment, facts_after(order.seen), options_.smooth);
    } else {
      evaluator_->release(order.trial);
      at_end_.erase(order.trial);
    }
  }

  // What the leader had not recorded when it wrote an order.
  std::vector<Event> facts_after(std::int64_t seen) {
    while (!sent_.empty() && sent_.front().number <= seen) sent_.pop_front();
    std::vector<Event> facts;
    for (const Delivery& delivery : sent_) {
      if (delivery.number > seen) facts.insert(facts.end(), delivery.facts.begin(), delivery.facts.end());
    }
    if (pending_) facts.insert(facts.end(), pending_->facts.begin(), pending_->facts.end());
    facts.insert(facts.end(), outbox_.begin(), outbox_.end());
    return facts;
  }

  // ---- Training

  void keep_within_right() {
    if (clock_.now() < programs_end_at()) return;
    end_programs();
  }

  void end_programs() {
    for (const TrialId trial : live_) {
      Held& held = held_[trial];
      if (!held.told_to_end) evaluator_->release(trial);
      held.told_to_end = true;
    }
  }

  // What cannot be begun with the right that was asked for is given back.
  void begin_waiting() {
    const bool may = clock_.now() < programs_end_at() && !going_;
    for (auto& [trial, held] : held_) {
      if (!held.waiting) continue;
      if (may) {
        evaluator_->start(*held.waiting);
        at_end_.erase(trial);
        live_ = evaluator_->live();
        keep_guarded();
        held.waiting.reset();
      } else if (going_ || asked_in_vain_) {
        held.waiting.reset();
      } else {
        wants_right_ = true;
      }
    }
    asked_in_vain_ = false;
  }

  // A program at the end of its segment shall not wait for what others do meanwhile.
  void train() {
    live_ = evaluator_->live();
    std::erase_if(at_end_, [&](TrialId trial) { return !is_live(trial); });
    const double tick = at_end_.empty() ? options_.tick : std::min(kNextGlance, options_.tick);
    const bool idle = at_end_.size() == live_.size() && !wants_right_ && !going_;
    if (idle && dispatch_.wait(id_, tick)) look_at_ = clock_.now();  // a hint is given once
    const bool asks_now = wants_right_ && clock_.now() >= try_again_at_;
    gather(evaluator_->wait(idle || asks_now ? 0.0 : tick));
    count_time();
    live_ = evaluator_->live();
    if (live_.empty()) keep_guarded();
  }

  void count_time() {
    const double now = clock_.now();
    const auto processes = std::min<std::ptrdiff_t>(std::ssize(live_), options_.card.slots);
    tally_.busy += static_cast<double>(processes) * (now - counted_at_);
    counted_at_ = now;
  }

  void gather(const std::vector<Event>& facts) {
    if (outbox_.empty()) gathered_since_ = clock_.now();
    for (const Event& fact : facts) {
      outbox_.push_back(fact);
      urgent_ = urgent_ || !is_plain(fact);
      if (const auto* done = std::get_if<SegmentDone>(&fact)) at_end_.insert(done->trial);
      if (const auto* report = std::get_if<Measured>(&fact)) {
        reported_.insert(report->trial);
        tally_.failures = 0;
      }
      const auto* failure = std::get_if<TrialFailed>(&fact);
      if (failure && !reported_.contains(failure->trial)) ++tally_.failures;
    }
  }

  // ---- Deliveries

  bool has_ended(TrialId trial, const Held& held) const { return !held.waiting && !is_live(trial); }

  bool something_ended() const {
    return std::ranges::any_of(
        held_, [&](const auto& held) { return !held.second.ended_said && has_ended(held.first, held.second); });
  }

  bool is_due() const {
    const double now = clock_.now();
    if (urgent_ || wants_right_ || something_ended()) return true;
    if (!outbox_.empty() && now - gathered_since_ >= options_.gather) return true;
    if (now - renewed_at_ >= lease_ / 3.0) return true;
    return !live_.empty() && !going_ && now >= programs_end_at() - 2.0 * kAskEvery && now - renewed_at_ >= kAskEvery;
  }

  void compose() {
    Delivery& delivery = pending_.emplace();
    delivery.number = delivered_ + 1;
    const auto cut = outbox_.begin() + std::min<std::ptrdiff_t>(std::ssize(outbox_), kGathered);
    delivery.facts.assign(outbox_.begin(), cut);
    outbox_.erase(outbox_.begin(), cut);
    urgent_ = !outbox_.empty();
    if (!urgent_) {
      for (const auto& [trial, held] : held_) {
        if (!held.ended_said && has_ended(trial, held)) {
          delivery.standings.push_back({.trial = trial, .order = held.number, .ended = true});
        }
      }
    }
    delivery.tally = tally_;
    delivery.trains = !going_ && (wants_right_ || (!live_.empty() && clock_.now() < programs_end_at()));
  }

  void deliver() {
    if (clock_.now() < try_again_at_) return;
    if (!pending_ && !is_due()) return;
    if (!pending_) compose();
    const double asked_at = clock_.now();
    try {
      const Receipt receipt = dispatch_.deliver(id_, *pending_);
      backoff_.succeeded();
      complaints_.over();
      if (receipt.kind == Receipt::Kind::fenced) {
        fenced_ = true;
      } else {
        was_taken(receipt.grant, asked_at);
      }
    } catch (const Shortage& shortage) {
      failed(shortage);
    }
  }

  void was_taken(const Grant& grant, double asked_at) {
    accept(grant, asked_at);
    delivered_ = pending_->number;
    for (const TrialStanding& standing : pending_->standings) {
      const auto held = held_.find(standing.trial);
      if (held != held_.end() && held->second.number == standing.order) held->second.ended_said = true;
    }
    if (pending_->trains) {
      wants_right_ = false;
      asked_in_vain_ = clock_.now() >= programs_end_at();
    }
    if (!pending_->facts.empty()) sent_.push_back(std::move(*pending_));
    pending_.reset();
    if (outbox_.empty()) evaluator_->recorded();
  }

  void accept(const Grant& grant, double asked_at) {
    lease_ = std::max(kAskEvery, grant.lease);
    lease_end_ = asked_at + grant.lease;
    train_end_ = std::max(train_end_, asked_at + grant.train);
    renewed_at_ = asked_at;
    keep_guarded();
  }

  // Should this process be held up, the evaluator's guardian ends the programs in time. Without a right there are none,
  // or they are being ended.
  void keep_guarded() {
    const double infinity = std::numeric_limits<double>::infinity();
    const double left = programs_end_at() - clock_.now();
    if (live_.empty() || left > 0.0) {
      evaluator_->keep_within(
          {.training_seconds = infinity, .seconds = live_.empty() ? infinity : left + 0.5 * kRightMargin});
    }
  }

  void failed(const Shortage& shortage) {
    complaints_.say(shortage.what(), clock_.now());
    try_again_at_ = backoff_.after_failure(clock_.now());
  }

  // ---- Going

  void go(End why) {
    going_ = why;
    live_ = evaluator_->live();
    end_programs();
    tell_state(WorkerState::leaving);
  }

  // False while something is left to do. Where nobody can be told, the lease ends by itself.
  bool says_goodbye() {
    if (!live_.empty() || pending_ || !outbox_.empty() || something_ended()) return false;
    tell_state(WorkerState::gone);
    return true;
  }

  void tell_state(WorkerState state) {
    try {
      dispatch_.change_state(id_, state);
    } catch (const Shortage& shortage) {
      failed(shortage);
    }
  }

  WorkerDispatch& dispatch_;
  const Clock& clock_;
  const WorkerOptions& options_;
  const WorkerId id_;
  const std::unique_ptr<Evaluator> evaluator_;
  Backoff backoff_;
  Complaints complaints_;

  std::map<TrialId, Held> held_;
  std::vector<TrialId> live_;
  std::optional<std::int64_t> spec_version_;
  std::optional<End> going_;
  double look_at_ = 0.0;

  // By this machine's clock.
  double lease_ = 0.0;  // seconds, as granted last
  double lease_end_ = 0.0;
  double train_end_ = -std::numeric_limits<double>::infinity();
  double renewed_at_ = 0.0;
  bool wants_right_ = false;
  bool asked_in_vain_ = false;
  bool fenced_ = false;

  std::vector<Event> outbox_;  // not in a delivery yet
  double gathered_since_ = 0.0;
  bool urgent_ = false;
  std::optional<Delivery> pending_;  // no receipt yet
  std::deque<Delivery> sent_;        // that the leader may not have recorded
  std::int64_t delivered_ = 0;
  double try_again_at_ = -std::numeric_limits<double>::infinity();

  WorkerTally tally_;
  double counted_at_ = 0.0;
  std::set<TrialId> reported_;
  std::set<TrialId> at_end_;  // live, with a segment that has ended and no order since
};

WorkerLoop::WorkerLoop(WorkerDispatch& dispatch,
                       MakeEvaluator make_evaluator,
                       const Clock& clock,
                       WorkerOptions options)
    : dispatch_(dispatch), make_evaluator_(std::move(make_evaluator)), clock_(clock), options_(std::move(options)) {
  if (!options_.sleep) {
    options_.sleep = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); };
  }
}

WorkerEnd WorkerLoop::run() {
  Backoff backoff(share_of(options_.card.pid));
  Complaints complaints(options_.remark);
  double last_contact = clock_.now();
  while (true) {
    if (options_.leave && options_.leave->load()) return WorkerEnd::left;
    try {
      const double asked_at = clock_.now();
      const Joined joined = dispatch_.join(options_.card);
      backoff.succeeded();
      complaints.over();
      switch (Life(*this, joined, asked_at).run()) {
        case Life::End::finished:
          return WorkerEnd::finished;
        case Life::End::left:
          return WorkerEnd::left;
        case Life::End::over:
          break;
      }
      last_contact = clock_.now();
      if (options_.remark) options_.remark("this worker joins the study again");
    } catch (const Shortage& shortage) {
      const double now = clock_.now();
      if (now - last_contact > options_.patience) throw;
      complaints.say(shortage.what(), now);
      options_.sleep(backoff.after_failure(now) - now);
    }
  }
}

}  // namespace bapi
