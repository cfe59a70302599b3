#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/store/dispatch.h"

namespace bapi {

class MemoryLead;

// Leader and workers within one process, in the time of a clock: for tests and simulations. From one thread.
class MemoryDispatch : public WorkerDispatch {
 public:
  explicit MemoryDispatch(const Clock& clock) : clock_(clock) {}

  Joined join(const WorkerCard& card) override;
  Receipt deliver(WorkerId worker, const Delivery& delivery) override;
  Instructions look(WorkerId worker) const override;
  void change_state(WorkerId worker, WorkerState state) override;
  bool wait(WorkerId, double) override { return true; }

  // A leader, whoever leads by now: the others have lost it from now on.
  std::unique_ptr<MemoryLead> lead();

  // As it stands, for those who look from outside.
  const std::map<WorkerId, WorkerRecord>& workers() const { return workers_; }
  const std::map<TrialId, WorkOrder>& orders() const { return orders_; }
  const std::vector<StoredDelivery>& deliveries() const { return deliveries_; }
  const Pace& pace() const { return pace_; }

 private:
  friend class MemoryLead;
  WorkerRecord& at(WorkerId worker);
  const WorkerRecord& at(WorkerId worker) const;
  Grant grant_of(const WorkerRecord& worker) const;
  void apply(const Settlement& settlement);

  const Clock& clock_;
  Pace pace_;
  std::map<WorkerId, WorkerRecord> workers_;
  std::map<TrialId, WorkOrder> orders_;
  std::vector<StoredDelivery> deliveries_;  // in the order of their arrival
  std::int64_t last_worker_ = 0;
  std::int64_t last_order_ = 0;
  std::int64_t term_ = 0;
  double leader_seen_ = -std::numeric_limits<double>::infinity();
};

// One who leads, or has.
class MemoryLead : public Leadership, public LeaderDispatch {
 public:
  void check_held() const override;
  void sign_of_life() override;

  Board read() override;
  std::vector<WorkOrder> orders() override;
  Pace pace() override;
  void set_pace(const Pace& pace) override;
  std::vector<WorkOrder> put_all(std::span<const WorkOrder> orders) override;
  void settle_with_next_append(const Settlement& settlement) override;
  void settle() override;
  std::optional<WorkerRecord> declare_lost(WorkerId worker) override;
  void set_aside(WorkerId worker) override;
  bool wait(double) override { return true; }

 private:
  friend class MemoryDispatch;
  MemoryLead(MemoryDispatch& dispatch, std::int64_t term) : dispatch_(dispatch), term_(term) {}

  MemoryDispatch& dispatch_;
  std::int64_t term_;
  Settlement pending_;
};

}  // namespace bapi
