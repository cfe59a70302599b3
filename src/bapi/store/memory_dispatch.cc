#include "bapi/store/memory_dispatch.h"

#include <algorithm>

namespace bapi {

WorkerRecord& MemoryDispatch::at(WorkerId worker) {
  const auto found = workers_.find(worker);
  check(found != workers_.end(), "MemoryDispatch: there is no such worker");
  return found->second;
}

const WorkerRecord& MemoryDispatch::at(WorkerId worker) const { return const_cast<MemoryDispatch*>(this)->at(worker); }

Grant MemoryDispatch::grant_of(const WorkerRecord& worker) const {
  const double now = clock_.now();
  return {.lease = worker.lease_until - now, .train = worker.train_until - now, .now = now};
}

Joined MemoryDispatch::join(const WorkerCard& card) {
  const double now = clock_.now();
  const WorkerId id{++last_worker_};
  const WorkerRecord& worker =
      workers_
          .emplace(
              id,
              WorkerRecord{.id = id, .card = card, .joined = now, .lease_until = now + pace_.lease, .train_until = now})
          .first->second;
  return {.worker = id, .grant = grant_of(worker)};
}

Receipt MemoryDispatch::deliver(WorkerId id, const Delivery& delivery) {
  WorkerRecord& worker = at(id);
  const double now = clock_.now();
  const bool accepted = is_present(worker.state) && worker.lease_until > now;
  if (accepted && worker.delivered == delivery.number) return {.kind = Receipt::Kind::known, .grant = grant_of(worker)};
  if (!accepted || worker.delivered != delivery.number - 1) return {.kind = Receipt::Kind::fenced};
  const double lease = now + pace_.lease;
  worker.delivered = delivery.number;
  worker.tally = delivery.tally;
  worker.lease_until = std::max(worker.lease_until, lease);
  if (delivery.trains)
    worker.train_until = std::max(worker.train_until, std::min(lease, pace_.stop_at.value_or(lease)));
  if (delivery.says_something()) deliveries_.push_back({.worker = id, .at = now, .delivery = delivery});
  return {.kind = Receipt::Kind::taken, .grant = grant_of(worker)};
}

Instructions MemoryDispatch::look(WorkerId worker) const {
  Instructions found{.phase = pace_.phase, .leader_silent = clock_.now() - leader_seen_};
  for (const auto& [trial, order] : orders_) {
    if (order.worker == worker) found.orders.push_back(order);
  }
  std::ranges::sort(found.orders, {}, &WorkOrder::number);
  return found;
}

void MemoryDispatch::change_state(WorkerId id, WorkerState state) {
  check(state == WorkerState::leaving || state == WorkerState::gone, "a worker can leave and be gone, nothing else");
  WorkerRecord& worker = at(id);
  if (!is_present(worker.state)) return;
  worker.state = state;
  if (state != WorkerState::gone) return;
  worker.lease_until = std::min(worker.lease_until, clock_.now());
  worker.train_until = std::min(worker.train_until, clock_.now());
}

std::unique_ptr<MemoryLead> MemoryDispatch::lead() {
  leader_seen_ = clock_.now();
  return std::unique_ptr<MemoryLead>(new MemoryLead(*this, ++term_));
}

void MemoryDispatch::apply(const Settlement& settlement) {
  for (const Settlement::Taken& taken : settlement.taken) {
    std::erase_if(deliveries_, [&](const StoredDelivery& stored) {
      return stored.worker == taken.worker && stored.delivery.number == taken.number;
    });
  }
  for (const Settlement::Charged& charged : settlement.charged) {
    if (const auto order = orders_.find(charged.trial); order != orders_.end()) {
      order->second.charged_until = charged.until;
    }
  }
  for (const Settlement::Ended& ended : settlement.ended) {
    const auto order = orders_.find(ended.trial);
    if (order != orders_.end() && order->second.number == ended.order) orders_.erase(order);
  }
}

void MemoryLead::check_held() const {
  if (dispatch_.term_ != term_) throw LeadershipLost("another process leads the study now");
}

void MemoryLead::sign_of_life() {
  check_held();
  dispatch_.leader_seen_ = dispatch_.clock_.now();
}

Board MemoryLead::read() {
  check_held();
  Board board{.now = dispatch_.clock_.now(), .deliveries = dispatch_.deliveries_};
  std::ranges::stable_sort(board.deliveries, [](const StoredDelivery& a, const StoredDelivery& b) {
    return std::tuple(a.at, a.worker, a.delivery.number) < std::tuple(b.at, b.worker, b.delivery.number);
  });
  const auto matters = [&](const WorkerRecord& worker) {
    return is_present(worker.state) ||
           std::ranges::any_of(dispatch_.orders_,
                               [&](const auto& order) { return order.second.worker == worker.id; }) ||
           std::ranges::any_of(board.deliveries,
                               [&](const StoredDelivery& stored) { return stored.worker == worker.id; });
  };
  for (const auto& [id, worker] : dispatch_.workers_) {
    if (matters(worker)) board.workers.push_back(worker);
  }
  return board;
}

std::vector<WorkOrder> MemoryLead::orders() {
  check_held();
  std::vector<WorkOrder> orders;
  for (const auto& [trial, order] : dispatch_.orders_) orders.push_back(order);
  return orders;
}

Pace MemoryLead::pace() {
  check_held();
  return dispatch_.pace_;
}

void MemoryLead::set_pace(const Pace& pace) {
  check_held();
  dispatch_.pace_ = pace;
}

std::vector<WorkOrder> MemoryLead::put_all(std::span<const WorkOrder> orders) {
  check_held();
  std::vector<WorkOrder> all;
  for (const WorkOrder& order : orders) {
    const auto before = dispatch_.orders_.find(order.trial);
    const bool held = before != dispatch_.orders_.end();
    check(!held || before->second.worker == order.worker, "MemoryDispatch: another worker holds the trial");
    WorkOrder& written = all.emplace_back(order);
    written.number = ++dispatch_.last_order_;
    written.charged_until = held ? before->second.charged_until : dispatch_.clock_.now();
  }
  for (const WorkOrder& written : all) dispatch_.orders_[written.trial] = written;
  return all;
}

void MemoryLead::settle_with_next_append(const Settlement& settlement) { pending_.add(settlement); }

void MemoryLead::settle() {
  check_held();
  dispatch_.apply(std::exchange(pending_, {}));
}

std::optional<WorkerRecord> MemoryLead::declare_lost(WorkerId id) {
  check_held();
  WorkerRecord& worker = dispatch_.at(id);
  if (is_present(worker.state) && worker.lease_until <= dispatch_.clock_.now()) worker.state = WorkerState::lost;
  if (worker.state != WorkerState::lost) return std::nullopt;
  return worker;
}

void MemoryLead::set_aside(WorkerId id) {
  check_held();
  WorkerRecord& worker = dispatch_.at(id);
  if (worker.state == WorkerState::live) worker.state = WorkerState::set_aside;
}

}  // namespace bapi
