#include "bapi/control/cluster_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bapi/base/file.h"
#include "bapi/control/allowance.h"

namespace bapi {
namespace {

constexpr double kSignEvery = 2.0;  // seconds; a leader that is busy may be late
static_assert(kSignEvery < kSignOfLife);
constexpr double kLookEvery = 1.0;     // seconds, whatever notifications say
constexpr double kServeEvery = 0.1;    // seconds, while a decision is taken
constexpr double kRemarkEvery = 60.0;  // seconds
constexpr double kStopSlack = 0.5;     // a stop that may move back by less stays where it is
constexpr int kMostFailures = 3;       // trials in a row that fail on one worker before their first epoch
constexpr int kPaceAttempts = 3;
constexpr double kLongerRight = 1.5;  // after a process could not be begun with the right that its worker got

// Whether the machine may be to blame, and not the configuration or the program.
bool may_be_the_host(FailureCause cause) {
  return cause == FailureCause::crashed || cause == FailureCause::not_run || cause == FailureCause::silent ||
         cause == FailureCause::no_report;
}

std::string name_of(const WorkerRecord& worker) {
  return fmt::format("worker {} on {}", index(worker.id), worker.card.host);
}

}  // namespace

ClusterEvaluator::ClusterEvaluator(const Session& session,
                                   Leadership& leadership,
                                   LeaderDispatch& dispatch,
                                   const Clock& clock,
                                   ClusterOptions options)
    : session_(session), leadership_(leadership), dispatch_(dispatch), clock_(clock), options_(std::move(options)) {
  shortest_right_ = least_right(spec().effective_grace());
  leadership_.sign_of_life();
  read_orders();
  read_board();
}

// As they stand once everything is settled that was recorded.
void ClusterEvaluator::read_orders() {
  dispatch_.settle();
  std::map<TrialId, WorkOrder> found;
  for (WorkOrder& order : dispatch_.orders()) {
    trained_by_[order.trial] = order.worker;
    found[order.trial] = std::move(order);
  }
  pace_ = dispatch_.pace();
  orders_ = std::move(found);
  in_doubt_ = false;
}

double ClusterEvaluator::seconds_left() const {
  return spec().budget.to_seconds(std::max(0.0, session_.history().budget().unspent()));
}

double ClusterEvaluator::now() const { return board_.now + (clock_.now() - read_at_); }

const WorkerRecord* ClusterEvaluator::find(WorkerId worker) const {
  const auto found = std::ranges::lower_bound(board_.workers, worker, {}, &WorkerRecord::id);
  return found != board_.workers.end() && found->id == worker ? &*found : nullptr;
}

bool ClusterEvaluator::takes_orders(const WorkerRecord& worker) const {
  return worker.state == WorkerState::live && worker.lease_until > now();
}

int ClusterEvaluator::slots() const {
  int slots = 0;
  for (const WorkerRecord& worker : board_.workers) {
    if (takes_orders(worker)) slots += worker.card.slots;
  }
  return slots;
}

std::vector<TrialId> ClusterEvaluator::live() const {
  std::vector<TrialId> trials;
  for (const auto& [trial, order] : orders_) trials.push_back(trial);
  for (const Segment& segment : queue_) {
    if (!orders_.contains(segment.trial)) trials.push_back(segment.trial);
  }
  return trials;
}

Running ClusterEvaluator::running() const {
  RunningSum sum;
  for (const auto& [trial, order] : orders_) {
    const WorkerRecord* worker = find(order.worker);
    const double right = worker ? worker->train_until : order.charged_until;
    if (right > order.charged_until && right <= now()) {
      sum.add_ended(order.charged_until, right);
    } else {
      sum.add_running(order.charged_until, now());
    }
  }
  sum.add_charged(charged_by(facts_));
  return sum.in(spec().budget);
}

// What cannot be reached for now is tried again at the next call. False if it could not.
template <typename Step>
bool ClusterEvaluator::patiently(const Step& step) {
  try {
    step();
    cut_off_since_.reset();
    return true;
  } catch (const Shortage& shortage) {
    const double at = clock_.now();
    in_doubt_ = true;
    if (!cut_off_since_) {
      cut_off_since_ = at;
      remarked_at_ = at - kRemarkEvery;
    }
    if (at - *cut_off_since_ > options_.patience) throw;
    if (options_.remark && at - remarked_at_ >= kRemarkEvery) {
      remarked_at_ = at;
      options_.remark(fmt::format("{}; trying again", shortage.what()));
    }
    return false;
  }
}

// ---- Taking

void ClusterEvaluator::read_board() {
  board_ = dispatch_.read();
  read_at_ = clock_.now();
}

void ClusterEvaluator::look() {
  patiently([&] {
    if (clock_.now() - signed_at_ >= kSignEvery) {
      leadership_.sign_of_life();
      signed_at_ = clock_.now();
    }
    // Who delivers may have an order of which nobody heard that it was written.
    if (in_doubt_ && !(facts_.empty() && settlement_.empty())) return;
    if (in_doubt_) read_orders();
    read_board();
    for (const StoredDelivery& stored : board_.deliveries) take(stored);
    look_for_lost_workers();
    look_for_bad_workers();
  });
}

void ClusterEvaluator::take(const StoredDelivery& stored) {
  std::int64_t& last = taken_[stored.worker];
  if (stored.delivery.number <= last) return;
  last = stored.delivery.number;
  settlement_.taken.push_back({.worker = stored.worker, .number = stored.delivery.number});
  for (const Event& fact : stored.delivery.facts) take_fact(stored.worker, fact);
  for (const TrialStanding& standing : stored.delivery.standings) take_standing(stored.worker, standing);
}

TrialStage& ClusterEvaluator::stage_of(TrialId trial) {
  const auto found = stages_.find(trial);
  if (found != stages_.end()) return found->second;
  return stages_.emplace(trial, session_.history().trial(trial).stage()).first->second;
}

// Only who holds a trial has something to say of it, and only what can follow: the log may lack what the budget did not
// pay for.
void ClusterEvaluator::take_fact(WorkerId worker, const Event& fact) {
  const std::optional<TrialId> trial = trial_of(fact);
  const auto order = trial ? orders_.find(*trial) : orders_.end();
  if (is_decision(fact) || order == orders_.end() || order->second.worker != worker) return;
  TrialStage& stage = stage_of(*trial);
  if (stage.objection(fact, spec().epochs.max)) return;
  const auto* failure = std::get_if<TrialFailed>(&fact);
  if (failure && fails_too_early(worker, *failure)) {
    const std::string& host = find(worker)->card.host;
    avoid_[*trial] = host;
    facts_.emplace_back(TrialRetried{
        .trial = *trial,
        .reason =
            fmt::format("it failed on {} before its first epoch; trying on another host. {}", host, failure->message)});
    return;
  }
  stage = stage.after(fact, spec().epochs.max);
  facts_.push_back(fact);
  if (const auto cost = charge_in(fact)) charge(*trial, cost->cost);
}

bool ClusterEvaluator::fails_too_early(WorkerId id, const TrialFailed& failure) const {
  const TrialStage& stage = stages_.at(failure.trial);
  const WorkerRecord* worker = find(id);
  if (!worker || stage.last_epoch > 0 || !stage.until || avoid_.contains(failure.trial)) return false;
  return may_be_the_host(failure.cause) && std::ranges::any_of(board_.workers, [&](const WorkerRecord& other) {
           return other.state == WorkerState::live && other.card.host != worker->card.host;
         });
}

void ClusterEvaluator::charge(TrialId trial, Cost cost) {
  if (!time_is_cost()) return;
  unused_.erase(trial);
  shortest_right_ = least_right(spec().effective_grace());
  WorkOrder& order = orders_.at(trial);
  order.charged_until += spec().budget.to_seconds(cost);
  std::erase_if(settlement_.charged, [&](const Settlement::Charged& before) { return before.trial == trial; });
  settlement_.charged.push_back({.trial = trial, .until = order.charged_until});
}

void ClusterEvaluator::take_standing(WorkerId worker, const TrialStanding& standing) {
  const auto order = orders_.find(standing.trial);
  if (order == orders_.end() || order->second.worker != worker) return;
  if (!standing.ended || order->second.number != standing.order) return;
  const bool given_back = order->second.command == OrderCommand::train && unused_.contains(standing.trial);
  if (given_back) shortest_right_ *= kLongerRight;
  end_order(standing.trial);
}

void ClusterEvaluator::end_order(TrialId trial) {
  settlement_.ended.push_back({.trial = trial, .order = orders_.at(trial).number});
  orders_.erase(trial);
  unused_.erase(trial);
}

// A worker that is declared lost delivers nothing more, so what is read afterwards is all that it has ever said.
void ClusterEvaluator::look_for_lost_workers() {
  bool declared = false;
  for (const WorkerRecord& worker : board_.workers) {
    if (!is_present(worker.state) || worker.lease_until > board_.now) continue;
    if (!dispatch_.declare_lost(worker.id)) continue;
    declared = true;
    if (options_.remark) options_.remark(fmt::format("{} was lost; its trials continue elsewhere", name_of(worker)));
  }
  if (declared) {
    read_board();
    for (const StoredDelivery& stored : board_.deliveries) take(stored);
  }
  for (const WorkerRecord& worker : board_.workers) {
    if (!is_present(worker.state)) conclude(worker);
  }
}

// What it left: one that is gone has ended its processes before, those of a lost one have ended with its right.
void ClusterEvaluator::conclude(const WorkerRecord& worker) {
  std::vector<TrialId> left;
  for (const auto& [trial, order] : orders_) {
    if (order.worker == worker.id) left.push_back(trial);
  }
  for (const TrialId trial : left) {
    TrialStage& stage = stage_of(trial);
    const double charged = orders_.at(trial).charged_until;
    if (worker.state == WorkerState::lost && time_is_cost() && worker.train_until > charged) {
      facts_.emplace_back(Overhead{.trial = trial,
                                   .kind = OverheadKind::lost,
                                   .epoch = stage.last_epoch + 1,
                                   .cost = spec().budget.of_seconds(worker.train_until - charged)});
    }
    const char* what = worker.state == WorkerState::lost ? "was lost" : "has left";
    if (stage.until) {
      facts_.emplace_back(Interrupted{.trial = trial, .reason = fmt::format("{} {}", name_of(worker), what)});
    }
    end_order(trial);
  }
}

void ClusterEvaluator::look_for_bad_workers() {
  const auto trains_well = [&](const WorkerRecord& worker) {
    return worker.state == WorkerState::live && worker.tally.failures == 0 && worker.tally.busy > 0.0;
  };
  if (std::ranges::none_of(board_.workers, trains_well)) return;
  for (WorkerRecord& worker : board_.workers) {
    if (worker.state != WorkerState::live || worker.tally.failures < kMostFailures) continue;
    dispatch_.set_aside(worker.id);
    worker.state = WorkerState::set_aside;
    if (!options_.remark) continue;
    options_.remark(fmt::format("{} gets no more trials: {} in a row failed there before their first epoch",
                                name_of(worker),
                                worker.tally.failures));
  }
}

std::vector<Event> ClusterEvaluator::hand_out() {
  dispatch_.settle_with_next_append(std::exchange(settlement_, {}));
  if (facts_.empty()) recorded();
  return std::exchange(facts_, {});
}

void ClusterEvaluator::recorded() {
  in_log_ = taken_;
  stages_.clear();
  patiently([&] { dispatch_.settle(); });
}

bool ClusterEvaluator::serve() {
  if (has_news_ && facts_.empty() && settlement_.empty()) patiently([&] { give_orders(); });
  if (clock_.now() - read_at_ >= kServeEvery) look();
  return !facts_.empty();
}

std::vector<Event> ClusterEvaluator::wait(double seconds) {
  const double until = clock_.now() + seconds;
  while (true) {
    if (facts_.empty() && settlement_.empty()) patiently([&] { give_orders(); });
    look();
    if (!facts_.empty() || !settlement_.empty() || clock_.now() >= until) return hand_out();
    dispatch_.wait(std::clamp(until - clock_.now(), 0.0, kLookEvery));
  }
}

// ---- Giving

void ClusterEvaluator::start(const Segment& segment) {
  released_.erase(segment.trial);
  const auto order = orders_.find(segment.trial);
  const bool trains = order != orders_.end() && order->second.command == OrderCommand::train;
  if (trains && order->second.segment.until == segment.until) return;  // a worker has it already
  leave_queue(segment.trial);
  queue_.push_back(segment);
  has_news_ = true;
}

void ClusterEvaluator::leave_queue(TrialId trial) {
  std::erase_if(queue_, [&](const Segment& waiting) { return waiting.trial == trial; });
}

void ClusterEvaluator::release(TrialId trial) {
  leave_queue(trial);
  released_.insert(trial);
  has_news_ = true;
}

WorkOrder ClusterEvaluator::order_for(TrialId trial,
                                      WorkerId worker,
                                      OrderCommand command,
                                      const Segment& segment) const {
  const auto seen = in_log_.find(worker);
  return {.trial = trial,
          .worker = worker,
          .command = command,
          .segment = segment,
          .seen = seen == in_log_.end() ? 0 : seen->second};
}

// All at once: the time that a database takes to have something on its disk is paid once.
void ClusterEvaluator::write(std::span<const WorkOrder> orders) {
  if (orders.empty()) return;
  for (const WorkOrder& order : orders) {
    if (!orders_.contains(order.trial)) unused_.insert(order.trial);
  }
  for (WorkOrder& written : dispatch_.put_all(orders)) {
    trained_by_[written.trial] = written.worker;
    leave_queue(written.trial);
    orders_[written.trial] = std::move(written);
  }
}

void ClusterEvaluator::announce(StudyPhase phase) {
  pace_.phase = phase;
  patiently([&] { dispatch_.set_pace(pace_); });
}

// Whoever ended them without having been told to: a worker that left or was lost, a right that ran out.
void ClusterEvaluator::queue_what_was_broken_off() {
  const History& history = session_.history();
  std::erase_if(queue_, [&](const Segment& waiting) { return !history.trial(waiting.trial).segment; });
  for (const TrialId trial : history.open_trials()) {
    const bool queued = std::ranges::any_of(queue_, [&](const Segment& waiting) { return waiting.trial == trial; });
    if (!queued && !orders_.contains(trial) && !released_.contains(trial)) {
      queue_.push_front(session_.open_segment(trial));
    }
  }
}

// For trials that a worker has: to let them go, or to continue where they are.
std::vector<WorkOrder> ClusterEvaluator::orders_to_holders() const {
  const auto held = [&](TrialId trial) -> const WorkOrder* {
    const auto order = orders_.find(trial);
    return order != orders_.end() && order->second.command == OrderCommand::train ? &order->second : nullptr;
  };
  std::vector<WorkOrder> orders;
  for (const TrialId trial : released_) {
    const WorkOrder* order = held(trial);
    if (order) orders.push_back(order_for(trial, order->worker, OrderCommand::release, order->segment));
  }
  for (const Segment& segment : queue_) {
    if (const WorkOrder* order = held(segment.trial)) orders.push_back(renewed_order(segment, order->worker));
  }
  return orders;
}

WorkOrder ClusterEvaluator::renewed_order(const Segment& waiting, WorkerId worker) const {
  Segment segment = session_.renewed(waiting);
  segment.continued = segment.continued || waiting.continued;
  if (session_.history().trial(segment.trial).state == TrialState::interrupted) {
    segment.most_unreported = spec().epochs.max;
  }
  return order_for(segment.trial, worker, OrderCommand::train, segment);
}

std::map<WorkerId, int> ClusterEvaluator::free_slots() const {
  std::map<WorkerId, int> free;
  for (const WorkerRecord& worker : board_.workers) {
    if (takes_orders(worker)) free[worker.id] = worker.card.slots;
  }
  for (const auto& [trial, order] : orders_) {
    if (const auto found = free.find(order.worker); found != free.end()) --found->second;
  }
  return free;
}

// The one that had it last, if it can; else the one with most free slots. Not on a host where it failed while there is
// another: it waits for a slot there.
const WorkerRecord* ClusterEvaluator::worker_for(TrialId trial, const std::map<WorkerId, int>& free) const {
  const auto last = trained_by_.find(trial);
  const std::string avoided = host_to_avoid(trial);
  const WorkerRecord* best = nullptr;
  std::pair<bool, int> best_rank;
  for (const auto& [id, slots] : free) {
    const WorkerRecord* worker = find(id);
    if (slots <= 0 || worker->card.host == avoided) continue;
    const std::pair rank(last != trained_by_.end() && last->second == id, slots);
    if (best && rank <= best_rank) continue;
    best = worker;
    best_rank = rank;
  }
  return best;
}

std::string ClusterEvaluator::host_to_avoid(TrialId trial) const {
  const auto avoided = avoid_.find(trial);
  if (avoided == avoid_.end()) return "";
  const bool is_elsewhere = std::ranges::any_of(board_.workers, [&](const WorkerRecord& worker) {
    return takes_orders(worker) && worker.card.host != avoided->second;
  });
  return is_elsewhere ? avoided->second : "";
}

std::vector<ClusterEvaluator::Placing> ClusterEvaluator::places() const {
  std::map<WorkerId, int> free = free_slots();
  std::vector<Placing> placings;
  for (const Segment& waiting : queue_) {
    if (orders_.contains(waiting.trial)) continue;  // its last process is being ended
    const WorkerRecord* worker = worker_for(waiting.trial, free);
    if (!worker && !avoid_.contains(waiting.trial)) break;
    if (!worker) continue;
    --free[worker->id];
    placings.push_back({.trial = waiting.trial, .worker = worker->id});
  }
  return placings;
}

std::vector<Stake> ClusterEvaluator::stakes(std::span<const Placing> placings) const {
  const auto right_of = [&](WorkerId id) {
    const WorkerRecord* worker = find(id);
    return worker ? worker->train_until : 0.0;
  };
  std::vector<Stake> stakes;
  for (const auto& [trial, order] : orders_) {
    stakes.push_back({.charged_until = order.charged_until, .granted_until = right_of(order.worker)});
  }
  for (const Placing& placing : placings) {
    stakes.push_back({.charged_until = board_.now, .granted_until = right_of(placing.worker)});
  }
  return stakes;
}

// How many of them the budget can pay for, each for a while at least.
std::size_t ClusterEvaluator::affordable(std::span<const Placing> placings) const {
  const double until = board_.now + shortest_right_;
  std::size_t fits = 0;
  for (std::size_t beyond = placings.size() + 1; beyond - fits > 1;) {
    const std::size_t middle = (fits + beyond) / 2;
    (latest_stop(stakes(placings.first(middle)), seconds_left()) >= until ? fits : beyond) = middle;
  }
  return fits;
}

// The pace with these orders as well. Raising the stop is not urgent, lowering it is.
void ClusterEvaluator::keep_pace(std::span<const Placing> placings) {
  Pace wanted{.lease = options_.lease};
  double stop = std::numeric_limits<double>::infinity();
  if (spec().deadline) stop = session_.started_at() + *spec().deadline;
  if (time_is_cost()) {
    const std::vector<Stake> all = stakes(placings);
    stop = std::min(stop, latest_stop(all, seconds_left()));
    const double accrued = spec().budget.to_seconds(running().accrued);
    wanted.lease = lease_for(options_.lease, seconds_left(), accrued, static_cast<int>(all.size()));
  }
  if (std::isfinite(stop)) wanted.stop_at = stop;
  if (stop < 0.0) wanted.stop_at = 0.0;
  const bool near = pace_.stop_at && wanted.stop_at && *wanted.stop_at >= *pace_.stop_at &&
                    *wanted.stop_at - *pace_.stop_at < kStopSlack;
  if (near) wanted.stop_at = pace_.stop_at;
  if (std::abs(wanted.lease - pace_.lease) < 0.1 * wanted.lease) wanted.lease = pace_.lease;
  if (wanted == pace_) return;
  dispatch_.set_pace(wanted);
  pace_ = wanted;
}

// What was written when the dispatch could not be reached may have been done or not: that is found out before anything
// else. Then comes the pace that allows for the new orders, then a look at what was granted before it was lowered, then
// the orders.
void ClusterEvaluator::give_orders() {
  if (in_doubt_) read_orders();
  has_news_ = false;
  queue_what_was_broken_off();
  write(orders_to_holders());
  std::vector<Placing> placings = places();
  if (time_is_cost()) placings.resize(affordable(placings));
  nothing_affordable_ = time_is_cost() && orders_.empty() && !queue_.empty() && seconds_left() < shortest_right_;
  keep_pace(placings);
  if (placings.empty() || !pays_for(placings)) return;
  std::vector<WorkOrder> orders;
  for (const Placing& placing : placings) {
    const Segment& waiting =
        *std::ranges::find_if(queue_, [&](const Segment& segment) { return segment.trial == placing.trial; });
    orders.push_back(renewed_order(waiting, placing.worker));
  }
  write(orders);
}

// Whether the rights that were granted before the pace was lowered fit the budget with these orders as well.
bool ClusterEvaluator::pays_for(std::span<const Placing> placings) {
  bool holds = !time_is_cost();
  for (int attempt = 0; !holds && attempt < kPaceAttempts; ++attempt) {
    read_board();
    holds = latest_stop(stakes(placings), seconds_left()) >= pace_.stop_at.value_or(0.0);
    if (!holds) keep_pace(placings);
  }
  return holds;
}

}  // namespace bapi
