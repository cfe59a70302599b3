#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bapi/store/dispatch.h"
#include "bapi/store/store.h"

// The laws of every dispatch, with the leadership and the log that belong to it. A test file instantiates
// DispatchContract with one DispatchKind per implementation.
namespace bapi {

struct DispatchKind {
  std::string name;

  // A process that leads.
  class Seat {
   public:
    virtual ~Seat() = default;
    virtual Leadership& leadership() = 0;
    virtual LeaderDispatch& dispatch() = 0;
    virtual Store& log() = 0;
  };

  // One study without events, workers and leader.
  class Place {
   public:
    virtual ~Place() = default;
    virtual WorkerDispatch& workers() = 0;
    virtual std::unique_ptr<Seat> lead() = 0;  // also if somebody leads: that one has lost it then
    virtual void pass(double seconds) = 0;     // of the dispatch's clock
  };
  std::function<std::unique_ptr<Place>()> make_place;
};

inline void PrintTo(const DispatchKind& kind, std::ostream* out) { *out << kind.name; }

class DispatchContract : public ::testing::TestWithParam<DispatchKind> {
 protected:
  static constexpr double kLease = 60.0;      // seconds: outlasts every test
  static constexpr double kShortLease = 0.3;  // is waited for
  static constexpr double kSlow = 30.0;       // a step may take so long on a busy machine

  DispatchContract() { seat_->dispatch().set_pace({.lease = kLease}); }

  WorkerDispatch& workers() { return place_->workers(); }
  LeaderDispatch& leader() { return seat_->dispatch(); }

  WorkerId join(int slots = 2) {
    return workers()
        .join({.host = "node7", .pid = 4711, .job = "slurm 12_3", .version = "0.2.0", .slots = slots})
        .worker;
  }

  static Event measured(int trial, Epoch epoch, double value = 0.5) {
    return Measured{.trial = TrialId{trial}, .measurement = {.epoch = epoch, .value = value, .cost = 1.0}};
  }

  static Delivery delivery(std::int64_t number, std::vector<Event> facts = {}) {
    return {.number = number, .facts = std::move(facts)};
  }

  static WorkOrder order(int trial, WorkerId worker, Epoch until = 5) {
    return {.trial = TrialId{trial},
            .worker = worker,
            .segment = {.trial = TrialId{trial},
                        .config = {{0.1, std::int64_t{3}, std::string("adam")}},
                        .from = 2,
                        .until = until,
                        .max_epoch = 9,
                        .budget_left = 0.1,
                        .usual_epoch = 1.0 / 3.0,
                        .spent = 0.7,
                        .paid = 3,
                        .recent = {0.25, 0.5},
                        .continued = true},
            .seen = 4};
  }

  WorkerRecord record_of(WorkerId worker) {
    for (const WorkerRecord& record : leader().read().workers) {
      if (record.id == worker) return record;
    }
    ADD_FAILURE() << "the leader does not see worker " << index(worker);
    return {};
  }

  Receipt::Kind send(WorkerId worker, const Delivery& what) { return workers().deliver(worker, what).kind; }

  std::unique_ptr<DispatchKind::Place> place_ = GetParam().make_place();
  std::unique_ptr<DispatchKind::Seat> seat_ = place_->lead();
};

TEST_P(DispatchContract, AWorkerThatJoinsIsLiveWithALeaseAndNoRightToTrain) {
  const Joined joined =
      workers().join({.host = "node7", .pid = 4711, .job = "slurm 12_3", .version = "0.2.0", .slots = 8});
  EXPECT_GT(joined.grant.lease, kLease - kSlow);
  EXPECT_LE(joined.grant.lease, kLease);
  EXPECT_LE(joined.grant.train, 0.0);
  const WorkerRecord record = record_of(joined.worker);
  EXPECT_EQ(record.card,
            (WorkerCard{.host = "node7", .pid = 4711, .job = "slurm 12_3", .version = "0.2.0", .slots = 8}));
  EXPECT_EQ(record.state, WorkerState::live);
  EXPECT_EQ(record.delivered, 0);
  EXPECT_LE(record.train_until, leader().read().now);
  EXPECT_GT(record.lease_until, leader().read().now);
}

TEST_P(DispatchContract, EveryWorkerHasANumberOfItsOwn) { EXPECT_NE(join(), join()); }

TEST_P(DispatchContract, ADeliveryIsKeptUntilTheLeaderHasTakenIt) {
  const WorkerId worker = join();
  const Delivery sent{.number = 1,
                      .facts = {measured(0, 1, 0.1), SegmentDone{.trial = TrialId{0}}},
                      .standings = {{.trial = TrialId{0}, .order = 7, .ended = true}},
                      .tally = {.busy = 1.5, .failures = 2},
                      .trains = true};
  EXPECT_EQ(send(worker, sent), Receipt::Kind::taken);
  for (int look = 0; look < 2; ++look) {
    const Board board = leader().read();
    ASSERT_EQ(board.deliveries.size(), 1u);
    EXPECT_EQ(board.deliveries[0].worker, worker);
    EXPECT_EQ(board.deliveries[0].delivery, sent);
    EXPECT_LE(board.deliveries[0].at, board.now);
  }
  EXPECT_EQ(record_of(worker).delivered, 1);
  EXPECT_EQ(record_of(worker).tally, sent.tally);
  leader().settle_with_next_append({.taken = {{.worker = worker, .number = 1}}});
  EXPECT_EQ(leader().read().deliveries.size(), 1u);
  leader().settle();
  EXPECT_TRUE(leader().read().deliveries.empty());
}

TEST_P(DispatchContract, DeliveriesComeInTheOrderOfTheirArrival) {
  const WorkerId first = join();
  const WorkerId second = join();
  send(second, delivery(1, {measured(1, 1)}));
  place_->pass(0.01);
  send(first, delivery(1, {measured(0, 1)}));
  place_->pass(0.01);
  send(second, delivery(2, {measured(1, 2)}));
  std::vector<std::pair<WorkerId, std::int64_t>> order;
  for (const StoredDelivery& stored : leader().read().deliveries) {
    order.emplace_back(stored.worker, stored.delivery.number);
  }
  EXPECT_EQ(order, (std::vector<std::pair<WorkerId, std::int64_t>>{{second, 1}, {first, 1}, {second, 2}}));
}

TEST_P(DispatchContract, ADeliveryThatIsSentAgainIsKnownAndKeptOnce) {
  const WorkerId worker = join();
  EXPECT_EQ(send(worker, delivery(1, {measured(0, 1)})), Receipt::Kind::taken);
  const Receipt again = workers().deliver(worker, delivery(1, {measured(0, 1)}));
  EXPECT_EQ(again.kind, Receipt::Kind::known);
  EXPECT_GT(again.grant.lease, 0.0);
  EXPECT_EQ(leader().read().deliveries.size(), 1u);
  leader().settle_with_next_append({.taken = {{.worker = worker, .number = 1}}});
  leader().settle();
  EXPECT_EQ(send(worker, delivery(1, {measured(0, 1)})), Receipt::Kind::known);
  EXPECT_TRUE(leader().read().deliveries.empty());
}

TEST_P(DispatchContract, ADeliveryThatDoesNotFollowIsFenced) {
  const WorkerId worker = join();
  EXPECT_EQ(send(worker, delivery(2, {measured(0, 1)})), Receipt::Kind::fenced);
  send(worker, delivery(1));
  send(worker, delivery(2));
  EXPECT_EQ(send(worker, delivery(1)), Receipt::Kind::fenced);
  EXPECT_TRUE(leader().read().deliveries.empty());
}

TEST_P(DispatchContract, ADeliveryThatSaysNothingRenewsTheLeaseAndIsNotKept) {
  const WorkerId worker = join();
  const double before = record_of(worker).lease_until;
  place_->pass(0.05);
  EXPECT_EQ(send(worker, delivery(1)), Receipt::Kind::taken);
  EXPECT_GT(record_of(worker).lease_until, before);
  EXPECT_TRUE(leader().read().deliveries.empty());
}

TEST_P(DispatchContract, TheRightToTrainIsGrantedToThoseWhoAskAndNotBeyondTheStop) {
  const WorkerId worker = join();
  EXPECT_LE(workers().deliver(worker, delivery(1)).grant.train, 0.0);
  const double stop_at = leader().read().now + 0.5 * kLease;
  leader().set_pace({.lease = kLease, .stop_at = stop_at});
  const Receipt limited = workers().deliver(worker, {.number = 2, .trains = true});
  EXPECT_LE(limited.grant.now + limited.grant.train, stop_at + 1e-3);
  EXPECT_GT(limited.grant.train, 0.0);
  EXPECT_GT(limited.grant.lease, limited.grant.train);
  EXPECT_NEAR(record_of(worker).train_until, stop_at, 1e-3);
  leader().set_pace({.lease = kLease});
  const Receipt free = workers().deliver(worker, {.number = 3, .trains = true});
  EXPECT_NEAR(free.grant.train, kLease, 1e-3);
  EXPECT_NEAR(free.grant.lease, kLease, 1e-3);
}

TEST_P(DispatchContract, AGrantIsNeverTakenBack) {
  const WorkerId worker = join();
  workers().deliver(worker, {.number = 1, .trains = true});
  const WorkerRecord before = record_of(worker);
  leader().set_pace({.lease = 1.0, .stop_at = leader().read().now - 5.0});
  const Receipt receipt = workers().deliver(worker, {.number = 2, .trains = true});
  EXPECT_EQ(receipt.kind, Receipt::Kind::taken);
  EXPECT_EQ(record_of(worker).train_until, before.train_until);
  EXPECT_EQ(record_of(worker).lease_until, before.lease_until);
  EXPECT_GT(receipt.grant.train, 0.0);
}

TEST_P(DispatchContract, AWorkerWhoseLeaseIsOverIsFencedAndCanBeDeclaredLost) {
  leader().set_pace({.lease = kShortLease});
  const WorkerId worker = join();
  leader().set_pace({.lease = kLease});
  const WorkerId other = join();
  place_->pass(2.0 * kShortLease);
  EXPECT_EQ(send(worker, delivery(1, {measured(0, 1)})), Receipt::Kind::fenced);
  EXPECT_EQ(leader().declare_lost(other), std::nullopt);
  const std::optional<WorkerRecord> lost = leader().declare_lost(worker);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->state, WorkerState::lost);
  EXPECT_EQ(leader().declare_lost(worker), lost);
  EXPECT_EQ(send(worker, delivery(1)), Receipt::Kind::fenced);
  EXPECT_TRUE(leader().read().deliveries.empty());
}

TEST_P(DispatchContract, ALostWorkerIsSeenAsLongAsItHasAnOrderOrAnUntakenDelivery) {
  leader().set_pace({.lease = kShortLease});
  const WorkerId worker = join();
  send(worker, delivery(1, {measured(0, 1)}));
  const WorkOrder written = leader().put(order(0, worker));
  place_->pass(2.0 * kShortLease);
  ASSERT_TRUE(leader().declare_lost(worker));
  EXPECT_EQ(record_of(worker).state, WorkerState::lost);
  leader().settle_with_next_append({.taken = {{.worker = worker, .number = 1}}});
  leader().settle();
  EXPECT_EQ(record_of(worker).state, WorkerState::lost);
  leader().settle_with_next_append({.ended = {{.trial = TrialId{0}, .order = written.number}}});
  leader().settle();
  EXPECT_TRUE(leader().read().workers.empty());
}

TEST_P(DispatchContract, OrdersReachTheirWorkerAloneAndWhole) {
  const WorkerId first = join();
  const WorkerId second = join();
  const WorkOrder one = leader().put(order(0, first));
  const WorkOrder two = leader().put(order(1, second));
  const WorkOrder three = leader().put(order(2, first));
  EXPECT_LT(one.number, two.number);
  EXPECT_LT(two.number, three.number);
  EXPECT_EQ(one.segment, order(0, first).segment);
  EXPECT_EQ(workers().look(first).orders, (std::vector<WorkOrder>{one, three}));
  EXPECT_EQ(workers().look(second).orders, (std::vector<WorkOrder>{two}));
  EXPECT_EQ(leader().orders(), (std::vector<WorkOrder>{one, two, three}));
}

TEST_P(DispatchContract, OrdersOfOneStepAreNumberedAsTheyCame) {
  const WorkerId first = join();
  const WorkerId second = join();
  const WorkOrder before = leader().put(order(7, first));
  const std::vector<WorkOrder> wanted{order(9, second), order(3, first), order(7, first, 8), order(4, second)};
  const std::vector<WorkOrder> written = leader().put_all(wanted);
  ASSERT_EQ(written.size(), wanted.size());
  std::int64_t last = before.number;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(written[i].trial, wanted[i].trial);
    EXPECT_EQ(written[i].segment, wanted[i].segment);
    EXPECT_GT(written[i].number, last);
    last = written[i].number;
  }
  EXPECT_EQ(written[2].charged_until, before.charged_until);
  EXPECT_EQ(workers().look(first).orders, (std::vector<WorkOrder>{written[1], written[2]}));
  EXPECT_EQ(workers().look(second).orders, (std::vector<WorkOrder>{written[0], written[3]}));
}

TEST_P(DispatchContract, ANewOrderIsChargedFromNowOnAndALaterOneOfItsTrialAsBefore) {
  const WorkerId worker = join();
  const double before = leader().read().now;
  const WorkOrder first = leader().put(order(0, worker));
  EXPECT_GE(first.charged_until, before);
  EXPECT_LE(first.charged_until, leader().read().now);
  leader().settle_with_next_append({.charged = {{.trial = TrialId{0}, .until = before + 12.5}}});
  leader().settle();
  const WorkOrder second = leader().put(order(0, worker, 8));
  EXPECT_NEAR(second.charged_until, before + 12.5, 1e-5);
  EXPECT_EQ(second.segment.until, 8);
  EXPECT_GT(second.number, first.number);
  EXPECT_EQ(workers().look(worker).orders, (std::vector<WorkOrder>{second}));
}

TEST_P(DispatchContract, ATrialIsHeldByOneWorkerAtATime) {
  const WorkerId first = join();
  const WorkerId second = join();
  const WorkOrder written = leader().put(order(0, first));
  EXPECT_THROW(leader().put(order(0, second)), LogicError);
  leader().settle_with_next_append({.ended = {{.trial = TrialId{0}, .order = written.number}}});
  leader().settle();
  EXPECT_NO_THROW(leader().put(order(0, second)));
  EXPECT_TRUE(workers().look(first).orders.empty());
}

TEST_P(DispatchContract, AnOrderThatWasReplacedSurvivesTheEndOfTheOldOne) {
  const WorkerId worker = join();
  const WorkOrder old = leader().put(order(0, worker));
  const WorkOrder renewed = leader().put(order(0, worker, 8));
  leader().settle_with_next_append({.ended = {{.trial = TrialId{0}, .order = old.number}}});
  leader().settle();
  EXPECT_EQ(leader().orders(), (std::vector<WorkOrder>{renewed}));
}

TEST_P(DispatchContract, ASettlementIsWrittenWithTheNextFactsAndNotWithoutThem) {
  const WorkerId worker = join();
  const WorkOrder written = leader().put(order(0, worker));
  send(worker, delivery(1, {measured(0, 1)}));
  leader().settle_with_next_append(
      {.taken = {{.worker = worker, .number = 1}}, .ended = {{.trial = TrialId{0}, .order = written.number}}});
  const std::vector<Event> facts{measured(0, 1)};
  EXPECT_FALSE(seat_->log().append(99, facts, 1.0, Durability::process));
  EXPECT_EQ(leader().read().deliveries.size(), 1u);
  EXPECT_EQ(leader().orders().size(), 1u);
  EXPECT_TRUE(seat_->log().append(0, facts, 1.0, Durability::process));
  EXPECT_TRUE(leader().read().deliveries.empty());
  EXPECT_TRUE(leader().orders().empty());
}

TEST_P(DispatchContract, ALeaderThatWasReplacedWritesNothing) {
  const WorkerId worker = join();
  send(worker, delivery(1, {measured(0, 1)}));
  const WorkOrder written = leader().put(order(0, worker));
  leader().settle_with_next_append({.taken = {{.worker = worker, .number = 1}}});
  const std::unique_ptr<DispatchKind::Seat> next = place_->lead();
  EXPECT_NO_THROW(next->leadership().check_held());
  EXPECT_THROW(seat_->leadership().check_held(), LeadershipLost);
  EXPECT_THROW(seat_->leadership().sign_of_life(), LeadershipLost);
  EXPECT_THROW(leader().put(order(1, worker)), LeadershipLost);
  EXPECT_THROW(leader().set_pace({.lease = 7.0}), LeadershipLost);
  EXPECT_THROW(leader().settle(), LeadershipLost);
  EXPECT_THROW(leader().set_aside(worker), LeadershipLost);
  EXPECT_THROW(leader().declare_lost(worker), LeadershipLost);
  const std::vector<Event> facts{measured(0, 1)};
  EXPECT_THROW(seat_->log().append(0, facts, 1.0, Durability::process), LeadershipLost);
  EXPECT_THROW(seat_->log().append_decision(0, StudyFinished{.reason = "spent"}, 1.0), LeadershipLost);
  EXPECT_EQ(next->dispatch().pace().lease, kLease);
  EXPECT_EQ(next->dispatch().orders(), (std::vector<WorkOrder>{written}));
  EXPECT_EQ(next->dispatch().read().deliveries.size(), 1u);
  EXPECT_TRUE(next->log().events(0).empty());
}

TEST_P(DispatchContract, TheNextLeaderFindsWhatTheLastOneLeft) {
  const WorkerId worker = join();
  const Pace pace{.lease = 30.0, .stop_at = 1.75e9, .phase = StudyPhase::paused};
  leader().set_pace(pace);
  const WorkOrder written = leader().put(order(0, worker));
  seat_ = place_->lead();
  EXPECT_EQ(leader().pace(), pace);
  EXPECT_EQ(leader().orders(), (std::vector<WorkOrder>{written}));
  EXPECT_GT(leader().put(order(1, worker)).number, written.number);
}

TEST_P(DispatchContract, WorkersSeeThePhaseAndHowLongTheLeaderHasBeenSilent) {
  const WorkerId worker = join();
  seat_->leadership().sign_of_life();
  EXPECT_LT(workers().look(worker).leader_silent, kSlow);
  place_->pass(1.5);
  EXPECT_GE(workers().look(worker).leader_silent, 1.4);
  seat_->leadership().sign_of_life();
  EXPECT_LT(workers().look(worker).leader_silent, kSlow);
  EXPECT_EQ(workers().look(worker).phase, StudyPhase::open);
  leader().set_pace({.lease = kLease, .phase = StudyPhase::finished});
  EXPECT_EQ(workers().look(worker).phase, StudyPhase::finished);
}

TEST_P(DispatchContract, AWorkerLeavesInTwoSteps) {
  const WorkerId worker = join();
  workers().deliver(worker, {.number = 1, .trains = true});
  workers().change_state(worker, WorkerState::leaving);
  EXPECT_EQ(record_of(worker).state, WorkerState::leaving);
  EXPECT_EQ(send(worker, delivery(2, {measured(0, 1)})), Receipt::Kind::taken);
  workers().change_state(worker, WorkerState::gone);
  const WorkerRecord record = record_of(worker);
  EXPECT_EQ(record.state, WorkerState::gone);
  EXPECT_LE(record.train_until, leader().read().now);
  EXPECT_EQ(leader().declare_lost(worker), std::nullopt);
  EXPECT_EQ(send(worker, delivery(3)), Receipt::Kind::fenced);
}

TEST_P(DispatchContract, AWorkerThatIsSetAsideStillDelivers) {
  const WorkerId worker = join();
  leader().set_aside(worker);
  EXPECT_EQ(record_of(worker).state, WorkerState::set_aside);
  EXPECT_EQ(send(worker, delivery(1, {measured(0, 1)})), Receipt::Kind::taken);
}

}  // namespace bapi
