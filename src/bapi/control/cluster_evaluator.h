#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/control/rights.h"
#include "bapi/control/session.h"
#include "bapi/store/dispatch.h"

namespace bapi {

struct ClusterOptions {
  double lease = 60.0;      // seconds
  double patience = 600.0;  // seconds for which a dispatch that cannot be reached is tried again
  std::function<void(const std::string&)> remark = {};  // is told of workers that were lost, and of such trouble
};

// Trains in the workers of a study, wherever they are: gives them orders and takes their deliveries, by way of the
// dispatch. The slots are those of the workers that live.
//
// Everything that matters is in the log and in the dispatch. A leader that is replaced leaves its workers training; the
// next one finds their orders, and `start` of a segment that a worker has already changes nothing. Facts that `wait`
// has handed out are settled in the transaction that records them: each is in the log once, whoever dies in between.
//
// A worker whose lease is over is lost: what its processes may have cost up to the end of their right is charged as
// OverheadKind::lost, and its segments continue elsewhere. So do segments whose process ended without having been told
// to, because its worker leaves or its right ran out. A trial that fails before its first epoch is tried once more on
// another host, if there is one; a worker on which three such trials failed in a row, while others train, is given
// nothing more.
//
// Where time is the cost, no order is given unless the rights of all workers fit the budget with it (rights.h).
class ClusterEvaluator : public Evaluator {
 public:
  // Refers to all. `clock` tells the time of the dispatch, as closely as one knows it.
  ClusterEvaluator(const Session& session,
                   Leadership& leadership,
                   LeaderDispatch& dispatch,
                   const Clock& clock,
                   ClusterOptions options = {});

  int slots() const override;
  void start(const Segment& segment) override;
  void release(TrialId trial) override;
  std::vector<TrialId> live() const override;
  std::vector<Event> wait(double seconds) override;
  void recorded() override;
  bool serve() override;
  bool out_of_time() const override { return nothing_affordable_; }
  bool outlives_loop() const override { return true; }
  Running running() const override;

  // What becomes of the study when this leader goes: workers are told.
  void announce(StudyPhase phase);

 private:
  const StudySpec& spec() const { return session_.history().spec(); }
  bool time_is_cost() const { return spec().budget.meter == Meter::accrued; }
  double seconds_left() const;
  double now() const;

  // Taking.
  void look();
  void read_board();
  void read_orders();
  void take(const StoredDelivery& stored);
  void take_fact(WorkerId worker, const Event& fact);
  bool fails_too_early(WorkerId worker, const TrialFailed& failure) const;
  void take_standing(WorkerId worker, const TrialStanding& standing);
  void charge(TrialId trial, Cost cost);
  void end_order(TrialId trial);
  void look_for_lost_workers();
  void conclude(const WorkerRecord& worker);
  void look_for_bad_workers();
  TrialStage& stage_of(TrialId trial);
  std::vector<Event> hand_out();

  // Giving.
  struct Placing {
    TrialId trial{};
    WorkerId worker{};
  };
  void give_orders();
  void leave_queue(TrialId trial);
  void queue_what_was_broken_off();
  std::vector<WorkOrder> orders_to_holders() const;
  WorkOrder order_for(TrialId trial, WorkerId worker, OrderCommand command, const Segment& segment) const;
  WorkOrder renewed_order(const Segment& waiting, WorkerId worker) const;
  bool pays_for(std::span<const Placing> placings);
  std::vector<Placing> places() const;
  const WorkerRecord* worker_for(TrialId trial, const std::map<WorkerId, int>& free) const;
  std::string host_to_avoid(TrialId trial) const;  // empty: none
  bool takes_orders(const WorkerRecord& worker) const;
  std::map<WorkerId, int> free_slots() const;
  std::vector<Stake> stakes(std::span<const Placing> placings) const;
  std::size_t affordable(std::span<const Placing> placings) const;
  void keep_pace(std::span<const Placing> placings);
  void write(std::span<const WorkOrder> orders);
  const WorkerRecord* find(WorkerId worker) const;

  template <typename Step>
  bool patiently(const Step& step);

  const Session& session_;
  Leadership& leadership_;
  LeaderDispatch& dispatch_;
  const Clock& clock_;
  const ClusterOptions options_;

  Board board_;
  double read_at_ = 0.0;  // by the clock
  std::map<TrialId, WorkOrder> orders_;
  std::deque<Segment> queue_;                // wait for a slot, or to be written as orders
  bool has_news_ = false;                    // trials were started or released since orders were written
  std::set<TrialId> released_;               // and not started since: not to be continued by themselves
  std::map<WorkerId, std::int64_t> taken_;   // the last delivery of each worker that was taken
  std::map<WorkerId, std::int64_t> in_log_;  // the same, recorded
  std::map<TrialId, WorkerId> trained_by_;   // who had it last
  std::map<TrialId, std::string> avoid_;     // the host on which it failed before its first epoch
  std::vector<Event> facts_;                 // not handed out yet
  Settlement settlement_;                    // of these
  std::map<TrialId, TrialStage> stages_;     // of trials with facts that are not in the log yet
  Pace pace_;
  bool nothing_affordable_ = false;
  std::set<TrialId> unused_;     // orders of which no process has cost anything yet
  double shortest_right_ = 0.0;  // seconds with which a process is begun; longer after some were too short to begin
  double signed_at_ = -std::numeric_limits<double>::infinity();
  std::optional<double> cut_off_since_;
  bool in_doubt_ = false;  // whether the last order or pace was written
  double remarked_at_ = 0.0;
};

}  // namespace bapi
