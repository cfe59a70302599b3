#include "bapi/control/worker_loop.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

namespace bapi {
namespace worker_loop_test {

constexpr double kSoon = 0.05;  // seconds

// A leader with a plan: orders by the time at which they are written, each with one hint. The study finishes when it
// has no more.
class Schedule : public WorkerDispatch {
 public:
  explicit Schedule(ManualClock& clock) : clock_(clock) {}

  void order_at(double time, Epoch until) { plan_.push_back({time, until}); }

  Joined join(const WorkerCard&) override {
    return {.worker = WorkerId{1}, .grant = {.lease = 1e6, .train = 0.0, .now = clock_.now()}};
  }
  Receipt deliver(WorkerId, const Delivery& delivery) override {
    for (const TrialStanding& standing : delivery.standings) ended_ = ended_ || standing.ended;
    return {.kind = Receipt::Kind::taken, .grant = {.lease = 1e6, .train = 1e6, .now = clock_.now()}};
  }
  Instructions look(WorkerId) const override {
    Instructions found{.phase = ended_ ? StudyPhase::finished : StudyPhase::open, .leader_silent = 0.0};
    WorkOrder order{.trial = TrialId{0}};
    for (const auto& [time, until] : plan_) {
      if (time > clock_.now()) continue;
      ++order.number;
      order.segment = {.trial = TrialId{0}, .config = {{0.5}}, .from = until - 1, .until = until, .max_epoch = until};
    }
    const bool is_last = clock_.now() > plan_.back().first + 10.0;
    if (is_last) order = {.trial = TrialId{0}, .number = order.number + 1, .command = OrderCommand::release};
    if (order.number > 0) found.orders.push_back(order);
    return found;
  }
  void change_state(WorkerId, WorkerState) override {}

  // As long as it takes until the next hint comes.
  bool wait(WorkerId, double seconds) override {
    const double until = clock_.now() + seconds;
    for (const auto& [time, epoch] : plan_) {
      if (hinted_.contains(time) || time > until) continue;
      hinted_.insert(time);
      clock_.set(std::max(clock_.now(), time));
      return true;
    }
    clock_.set(until);
    return false;
  }

 private:
  ManualClock& clock_;
  std::vector<std::pair<double, Epoch>> plan_;
  std::set<double> hinted_;
  bool ended_ = false;
};

// Trains an epoch in no time, and keeps its process at the end of the segment; notes when each segment began.
class Keeper : public Evaluator {
 public:
  Keeper(ManualClock& clock, std::vector<double>& begun) : clock_(clock), begun_(begun) {}

  int slots() const override { return 1; }
  void start(const Segment& segment) override {
    begun_.push_back(clock_.now());
    live_ = true;
    facts_ = {Measured{segment.trial, {segment.until, 0.5, 1.0}}, SegmentDone{segment.trial}};
  }
  void release(TrialId) override { live_ = false; }
  std::vector<TrialId> live() const override { return live_ ? std::vector{TrialId{0}} : std::vector<TrialId>(); }
  std::vector<Event> wait(double seconds) override {
    if (facts_.empty()) clock_.advance(seconds);
    return std::exchange(facts_, {});
  }
  Running running() const override { return {}; }

 private:
  ManualClock& clock_;
  std::vector<double>& begun_;
  bool live_ = false;
  std::vector<Event> facts_;
};

std::vector<double> beginnings(const std::vector<double>& orders) {
  ManualClock clock(100.0);
  Schedule schedule(clock);
  Epoch epoch = 0;
  for (const double time : orders) schedule.order_at(time, ++epoch);
  std::vector<double> begun;
  WorkerLoop loop(schedule, [&] { return std::make_unique<Keeper>(clock, begun); }, clock, {.grace = 1.0});
  EXPECT_EQ(loop.run(), WorkerEnd::finished);
  return begun;
}

TEST(WorkerLoop, AnIdleWorkerBeginsAnOrderAsSoonAsItIsToldOfIt) {
  const std::vector<double> begun = beginnings({107.33});
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_NEAR(begun[0], 107.33, kSoon);
}

TEST(WorkerLoop, AProgramAtTheEndOfItsSegmentContinuesAsSoonAsItsWorkerIsToldOfIt) {
  const std::vector<double> orders{103.0, 103.41, 107.77, 107.9};
  const std::vector<double> begun = beginnings(orders);
  ASSERT_EQ(begun.size(), orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i) EXPECT_NEAR(begun[i], orders[i], kSoon) << i;
}

}  // namespace worker_loop_test
}  // namespace bapi
