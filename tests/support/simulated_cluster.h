#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/rng.h"
#include "bapi/control/cluster_evaluator.h"
#include "bapi/control/lead.h"
#include "bapi/control/process_account.h"
#include "bapi/control/worker_loop.h"
#include "bapi/store/memory_dispatch.h"
#include "bapi/store/memory_store.h"
#include "tests/support/actors.h"
#include "tests/support/led_store.h"
#include "tests/support/ledger.h"

// A cluster in simulated time: leaders and workers are the real ones, as are session and loop; training programs,
// machines, the network and everything that goes wrong with them are made up from a seed.
namespace bapi::test {

// What is made up.
struct ClusterPlan {
  StudySpec spec;
  int workers = 3;
  int slots = 1;                                                // of each
  double lease = 10.0;                                          // seconds
  double delay = 0.01;                                          // seconds that a message takes at most, usually
  double fault_every = 20;                                      // seconds on average; infinity: nothing goes wrong
  double drift = 0.0;                                           // of the clocks of workers, at most
  double crashes = 0.0;                                         // share of processes that crash
  double lost_every = std::numeric_limits<double>::infinity();  // seconds after which a worker dies and another comes
  std::optional<double> epoch_seconds = {};                     // of all trials; not set: each has its own
  double waits = 0.1;                                           // share of decisions that leave a slot idle

  static ClusterPlan of(std::uint64_t seed) {
    Rng rng = Rng(seed).fork("plan");
    const auto one_of = [&](std::initializer_list<double> values) {
      return values.begin()[rng.below(static_cast<int>(values.size()))];
    };
    ClusterPlan plan;
    plan.workers = 1 + rng.below(5);
    plan.slots = 1 + rng.below(3);
    plan.lease = one_of({5.0, 8.0, 15.0, 30.0});
    plan.delay = one_of({0.0, 0.01, 0.1, 1.0});
    plan.fault_every = one_of({3.0, 8.0, 20.0, 60.0});
    plan.drift = one_of({0.0, 1e-5, 1e-4});
    plan.crashes = one_of({0.0, 0.0, 0.05});
    plan.spec.name = "simulated";
    plan.spec.seed = seed;
    plan.spec.workers = plan.workers * plan.slots;
    plan.spec.epochs = {.min = 1, .max = 9};
    plan.spec.grace = one_of({0.0, 0.3, 1.0});
    plan.spec.max_failures = 1'000'000;
    if (rng.below(5) == 0) {
      plan.spec.budget = {.limit = 20.0 + rng.below(60), .unit = "epochs", .meter = Meter::epochs};
    } else {
      plan.spec.budget.limit = 40.0 + rng.below(300);
    }
    if (rng.below(8) == 0) plan.spec.deadline = 60.0 + rng.below(200);
    return plan;
  }
};

// What came of it.
struct ClusterOutcome {
  std::string violation = {};  // the first law that was broken; empty: none was
  double seconds = 0.0;
  Cost total = 0.0;
  Cost spent = 0.0;
  Cost epochs = 0.0;  // spent on new epochs
  Cost lost = 0.0;
  double trained = 0.0;  // seconds that programs really ran
  double ended = 0.0;    // when the study was finished
  int leaders = 0;
  int lives = 0;  // of workers
  int faults = 0;
  std::uint64_t digest = 0;  // of the log
};

class SimulatedCluster {
 public:
  SimulatedCluster(std::uint64_t seed, ClusterPlan plan)
      : plan_(std::move(plan)), rng_(Rng(seed).fork("cluster")), store_(plan_.spec), history_(plan_.spec) {}

  ClusterOutcome run() {
    for (int i = 0; i < plan_.workers; ++i) enter_worker(0.0);
    enter_leader(0.0);
    if (std::isfinite(plan_.fault_every)) stage_.enter([&](Stage::Actor& actor) { play_fate(actor); });
    if (std::isfinite(plan_.lost_every)) stage_.enter([&](Stage::Actor& actor) { lose_workers(actor); });
    for (std::int64_t turns = 0; outcome_.violation.empty() && !is_over();) {
      if (!stage_.turn()) break;
      observe();
      if (clock_.now() > kLongest || ++turns > kMostTurns) fail(fmt::format("the study does not end: {}", status()));
    }
    conclude();
    return outcome_;
  }

 private:
  static constexpr double kLongest = 4000.0;  // seconds
  static constexpr std::int64_t kMostTurns = 3'000'000;
  static constexpr double kFaultsUntil = 400.0;  // seconds: afterwards the study shall end
  static constexpr double kRounding = 1e-6;      // seconds, in sums of instants

  // The connection of a process with the rest of the world.
  struct Line {
    Stage::Actor* actor = nullptr;
    double cut_until = 0.0;
    double frozen_until = 0.0;
    std::atomic<bool> leave = false;
    bool gone = false;
  };

  // A training program as it really runs.
  struct Program {
    TrialId trial{};
    const Line* owner = nullptr;
    double began = 0.0;
    double guarded_until = std::numeric_limits<double>::infinity();  // the guardian has ended it by then
    std::optional<double> ended = {};

    double end_by(double now) const { return ended.value_or(std::min(now, guarded_until)); }
  };

  // ---- The network

  void thaw(const Line& line) {
    while (clock_.now() < line.frozen_until) line.actor->sleep(line.frozen_until - clock_.now());
  }

  double some_delay() {
    return rng_.below(50) == 0 ? 5.0 * plan_.delay * rng_.uniform() : plan_.delay * rng_.uniform();
  }

  void be_reached(const Line& line) {
    thaw(line);
    if (clock_.now() >= std::max(line.cut_until, outage_until_)) return;
    line.actor->sleep(0.5);
    throw Shortage("cut off");
  }

  // One step at the other end: the way there, the step, the way back. Everybody else may come in between.
  template <typename Step>
  auto call(const Line& line, const Step& step) {
    line.actor->sleep(some_delay());
    be_reached(line);
    if constexpr (std::is_void_v<decltype(step())>) {
      step();
      line.actor->sleep(some_delay());
      be_reached(line);
    } else {
      auto result = step();
      line.actor->sleep(some_delay());
      be_reached(line);
      return result;
    }
  }

  // ---- Programs and machines

  class LocalClock : public Clock {
   public:
    LocalClock(const Clock& clock, double offset, double drift) : clock_(clock), offset_(offset), rate_(1.0 + drift) {}
    double now() const override { return offset_ + rate_ * clock_.now(); }
    double there(double instant) const { return (instant - offset_) / rate_; }  // in the time of the world
    double rate() const { return rate_; }

   private:
    const Clock& clock_;
    double offset_;
    double rate_;
  };

  // Programs that save every epoch before they report it.
  class Programs : public Evaluator {
   public:
    Programs(SimulatedCluster& world, Line& line, const LocalClock& clock)
        : world_(world), line_(line), clock_(clock), spec_(world.plan_.spec) {}
    ~Programs() override {
      for (auto& [trial, process] : processes_) process.program->ended = process.program->end_by(world_.clock_.now());
    }

    int slots() const override { return world_.plan_.slots; }

    void start(const Segment& segment) override {
      open_[segment.trial] = segment;
      const auto process = processes_.find(segment.trial);
      if (process != processes_.end()) {
        process->second.account.continue_from(segment.from, segment.paid, segment.spent);
      }
      if (process == processes_.end() || process->second.ends_at) {
        queue_.push_back(segment.trial);
        return;
      }
      process->second.account.raise_max_epoch(segment.max_epoch);
      close_if_done(segment.trial, process->second.account.last_epoch());
    }

    void release(TrialId trial) override {
      std::erase(queue_, trial);
      const auto process = processes_.find(trial);
      if (process == processes_.end()) {
        open_.erase(trial);
      } else {
        end(process->second);
      }
    }

    std::vector<TrialId> live() const override {
      std::vector<TrialId> trials;
      for (const auto& [trial, process] : processes_) trials.push_back(trial);
      for (const TrialId trial : queue_) {
        if (!processes_.contains(trial)) trials.push_back(trial);
      }
      return trials;
    }

    std::vector<Event> wait(double seconds) override {
      const double until = clock_.now() + seconds;
      while (true) {
        fill_slots();
        if (facts_.empty()) happen();
        const double now = clock_.now();
        if (!facts_.empty() || now >= until) return std::exchange(facts_, {});
        line_.actor->sleep(std::max(1e-6, (std::min(until, next_event()) - now) / clock_.rate()));
        world_.thaw(line_);
      }
    }

    // A guardian that has come already cannot be told to wait.
    void keep_within(const RunLimits& limits) override {
      if (world_.clock_.now() >= guarded_until_ - spec_.effective_grace()) return;
      guarded_until_ = clock_.there(clock_.now() + limits.seconds) + spec_.effective_grace();
      for (auto& [trial, process] : processes_) process.program->guarded_until = guarded_until_;
    }
    bool out_of_time() const override { return guardian_came_; }

    Running running() const override { return {}; }

   private:
    struct Process {
      ProcessAccount account;
      Program* program;
      Epoch next = 1;           // epoch
      double reports_at = 0.0;  // by the machine's clock
      double epoch_seconds = 1.0;
      bool crashes = false;  // instead of its next report
      std::optional<double> told_to_end = {};
      std::optional<double> ends_at = {};
    };

    double next_event() const {
      double next = std::numeric_limits<double>::infinity();
      for (const auto& [trial, process] : processes_) {
        next = std::min(next, process.ends_at.value_or(process.reports_at));
      }
      return next;
    }

    void fill_slots() {
      for (auto next = queue_.begin(); next != queue_.end();) {
        const TrialId trial = *next;
        const auto segment = open_.find(trial);
        if (segment != open_.end() && !processes_.contains(trial)) close_if_done(trial, segment->second.from);
        if (!open_.contains(trial)) {
          next = queue_.erase(next);
        } else if (!processes_.contains(trial) && std::ssize(processes_) < slots()) {
          begin(open_.at(trial));
          next = queue_.erase(next);
        } else {
          ++next;
        }
      }
    }

    void begin(const Segment& segment) {
      Rng& rng = world_.rng_;
      const double now = clock_.now();
      const Epoch saved = std::max(0, world_.saved_[segment.trial] - (rng.below(20) == 0 ? 1 : 0));
      Process process{.account = ProcessAccount(spec_, ProcessAccount::Opening::of(segment, segment.from, now)),
                      .program = &world_.begin_program(segment.trial, line_, guarded_until_),
                      .next = saved + 1};
      process.epoch_seconds = world_.plan_.epoch_seconds.value_or(
          0.3 + 2.0 * Rng(spec_.seed).fork("epoch", index(segment.trial)).uniform());
      process.reports_at = now + 0.5 * rng.uniform() + process.epoch_seconds;
      process.crashes = rng.uniform() < world_.plan_.crashes;
      processes_.emplace(segment.trial, std::move(process));
    }

    void end(Process& process) {
      if (process.ends_at) return;
      process.told_to_end = clock_.now();
      process.ends_at = clock_.now() + spec_.effective_grace() * world_.rng_.uniform();
    }

    // What was due, in its order.
    void happen() {
      for (;;) {
        TrialId first{};
        double when = std::numeric_limits<double>::infinity();
        for (const auto& [trial, process] : processes_) {
          const double due = std::min(process.ends_at.value_or(process.reports_at), guard(process));
          if (due < when) {
            when = due;
            first = trial;
          }
        }
        if (when > clock_.now()) return;
        Process& process = processes_.at(first);
        if (when >= guard(process)) {
          guardian_came_ = true;
          gone(first, when, std::nullopt);
        } else if (process.ends_at) {
          gone(first, when, std::nullopt);
        } else if (process.crashes) {
          gone(first, when, TrialFailed{.trial = first, .message = "killed", .cause = FailureCause::crashed});
        } else {
          report(first, process, when);
        }
      }
    }

    double guard(const Process& process) const {
      return clock_.now() + clock_.rate() * (process.program->guarded_until - world_.clock_.now());
    }

    void report(TrialId trial, Process& process, double at) {
      if (process.next > spec_.epochs.max) {
        const bool empty = process.account.last_epoch() == 0;
        gone(trial,
             at,
             empty ? Event(TrialFailed{.trial = trial, .message = "silent", .cause = FailureCause::no_report})
                   : Event(ProgramEnded{.trial = trial}));
        return;
      }
      const Epoch epoch = process.next++;
      world_.saved_[trial] = std::max(world_.saved_[trial], epoch);
      const Reading reading = process.account.take_epoch(
          {.epoch = epoch, .value = 1.0 - 1.0 / (epoch + 1.0), .cost = std::nullopt, .text = ""}, MeasuredTime{at});
      facts_.insert(facts_.end(), reading.facts.begin(), reading.facts.end());
      process.reports_at = at + process.epoch_seconds;
      if (reading.kind == Reading::Kind::failure) {
        gone(trial, at, TrialFailed{.trial = trial, .message = reading.message, .cause = reading.cause});
      } else if (reading.kind == Reading::Kind::beyond) {
        end(process);
      } else {
        close_if_done(trial, process.account.last_epoch());
      }
    }

    void close_if_done(TrialId trial, Epoch last) {
      const auto segment = open_.find(trial);
      if (segment == open_.end() || last < segment->second.until) return;
      open_.erase(segment);
      facts_.emplace_back(SegmentDone{.trial = trial});
    }

    // `how`, if nobody told it to end and its segment is open.
    void gone(TrialId trial, double at, const std::optional<Event>& how) {
      Process& process = processes_.at(trial);
      const bool failed = how && std::holds_alternative<TrialFailed>(*how);
      const auto close = [&](OverheadKind kind, double until) {
        for (const Event& fact : process.account.close(kind, until)) facts_.push_back(fact);
      };
      if (process.told_to_end) close(OverheadKind::unfinished, std::min(at, *process.told_to_end));
      close(failed ? OverheadKind::failed : OverheadKind::grace, at);
      if (how && open_.contains(trial)) {
        facts_.push_back(*how);
        open_.erase(trial);
      }
      if (const auto segment = open_.find(trial); segment != open_.end()) {
        segment->second.from = process.account.last_epoch();
        segment->second.paid = process.account.paid();
        segment->second.spent = process.account.spent();
        segment->second.continued = true;
        if (std::ranges::find(queue_, trial) == queue_.end()) open_.erase(segment);
      }
      process.program->ended = clock_.there(at);
      processes_.erase(trial);
    }

    SimulatedCluster& world_;
    Line& line_;
    const LocalClock& clock_;
    const StudySpec& spec_;
    std::map<TrialId, Segment> open_;
    std::deque<TrialId> queue_;
    std::map<TrialId, Process> processes_;
    std::vector<Event> facts_;
    double guarded_until_ = std::numeric_limits<double>::infinity();
    bool guardian_came_ = false;
  };

  Program& begin_program(TrialId trial, const Line& owner, double guarded_until) {
    const double now = clock_.now();
    for (const Program& other : programs_) {
      if (other.trial == trial && !other.ended && now < other.guarded_until - kRounding) {
        fail(fmt::format("two programs train trial {}", index(trial)));
      }
    }
    programs_.push_back({.trial = trial, .owner = &owner, .began = now, .guarded_until = guarded_until});
    return programs_.back();
  }

  // ---- Workers

  class WorkerLine : public WorkerDispatch {
   public:
    WorkerLine(SimulatedCluster& world, Line& line) : world_(world), line_(line) {}
    Joined join(const WorkerCard& card) override {
      ++world_.outcome_.lives;
      return world_.call(line_, [&] { return world_.dispatch_.join(card); });
    }
    Receipt deliver(WorkerId worker, const Delivery& delivery) override {
      return world_.call(line_, [&] { return world_.dispatch_.deliver(worker, delivery); });
    }
    Instructions look(WorkerId worker) const override {
      return world_.call(line_, [&] { return world_.dispatch_.look(worker); });
    }
    void change_state(WorkerId worker, WorkerState state) override {
      world_.call(line_, [&] { world_.dispatch_.change_state(worker, state); });
    }
    bool wait(WorkerId, double seconds) override {
      if (seconds > 0.0) line_.actor->sleep(seconds);
      world_.thaw(line_);
      return true;
    }

   private:
    SimulatedCluster& world_;
    Line& line_;
  };

  void enter_worker(double after) {
    Line& line = workers_.emplace_back();
    const int number = static_cast<int>(workers_.size());
    line.actor = &stage_.enter([this, &line, number, after](Stage::Actor& actor) {
      actor.sleep(after);
      const LocalClock clock(clock_, 1e5 * rng_.uniform(), plan_.drift * (2.0 * rng_.uniform() - 1.0));
      WorkerLine dispatch(*this, line);
      WorkerLoop loop(dispatch,
                      [&] { return std::make_unique<Programs>(*this, line, clock); },
                      clock,
                      {.card = {.host = fmt::format("node{}", number), .pid = number, .slots = plan_.slots},
                       .grace = plan_.spec.effective_grace(),
                       .leave = &line.leave,
                       .leader_missing = [this] { somebody_leads(); },
                       .sleep = [&actor](double seconds) { actor.sleep(seconds); },
                       .patience = 1e9});
      guarded([&] { loop.run(); });
      line.gone = true;
    });
  }

  // ---- Leaders

  class LeaderLine : public LeaderDispatch, public Leadership {
   public:
    LeaderLine(SimulatedCluster& world, Line& line, MemoryLead& lead) : world_(world), line_(line), lead_(lead) {}
    void check_held() const override { lead_.check_held(); }
    void sign_of_life() override {
      world_.call(line_, [&] { lead_.sign_of_life(); });
    }
    Board read() override {
      return world_.call(line_, [&] { return lead_.read(); });
    }
    std::vector<WorkOrder> orders() override {
      return world_.call(line_, [&] { return lead_.orders(); });
    }
    Pace pace() override {
      return world_.call(line_, [&] { return lead_.pace(); });
    }
    void set_pace(const Pace& pace) override {
      world_.call(line_, [&] { lead_.set_pace(pace); });
    }
    std::vector<WorkOrder> put_all(std::span<const WorkOrder> orders) override {
      return world_.call(line_, [&] { return lead_.put_all(orders); });
    }
    void settle_with_next_append(const Settlement& settlement) override { lead_.settle_with_next_append(settlement); }
    void settle() override {
      world_.call(line_, [&] { lead_.settle(); });
    }
    std::optional<WorkerRecord> declare_lost(WorkerId worker) override {
      return world_.call(line_, [&] { return lead_.declare_lost(worker); });
    }
    void set_aside(WorkerId worker) override {
      world_.call(line_, [&] { lead_.set_aside(worker); });
    }
    bool wait(double seconds) override {
      line_.actor->sleep(seconds);
      world_.thaw(line_);
      return true;
    }

   private:
    SimulatedCluster& world_;
    Line& line_;
    MemoryLead& lead_;
  };

  // The log, at the end of a line that may break: a write of which nobody heard whether it was done is looked for.
  class LogLine : public Store {
   public:
    LogLine(SimulatedCluster& world, Line& line, MemoryLead& lead)
        : world_(world), line_(line), log_(world.store_, lead) {}
    const StudySpec& spec() const override { return log_.spec(); }
    using Store::read;
    EventLog read(EventSeq after, EventSeq most) const override { return log_.read(after, most); }
    bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override {
      return patiently(std::ssize(facts) + last, [&] { return log_.append(last, facts, at, durability); });
    }
    bool append_decision(EventSeq last, const Event& decision, double at) override {
      return patiently(last + 1, [&] { return log_.append_decision(last, decision, at); });
    }

   private:
    template <typename Write>
    bool patiently(EventSeq then, const Write& write) {
      bool done = false;
      while (true) {
        try {
          return world_.call(line_, [&] { return (done && std::ssize(log_.events(0)) == then) || (done = write()); });
        } catch (const Shortage&) {
          line_.actor->sleep(0.3);
        }
      }
    }

    SimulatedCluster& world_;
    Line& line_;
    LedStore log_;
  };

  // Starts trials and continues them as it likes.
  class Whims : public Policy {
   public:
    explicit Whims(double waits) : waits_(waits) {}
    std::string_view name() const override { return "whims"; }
    Decision ask(const History& history, Rng& rng) override {
      const Epoch most = history.spec().epochs.max;
      std::vector<TrialId> resumable;
      for (const Trial& trial : history.trials()) {
        if (trial.resumable() && trial.curve.last_epoch() < most) resumable.push_back(trial.id);
      }
      if (history.open_segments() > 0 && rng.uniform() < waits_) return bapi::Wait{};
      if (!resumable.empty() && rng.below(3) > 0) {
        const TrialId trial = resumable[static_cast<std::size_t>(rng.below(static_cast<int>(resumable.size())))];
        if (rng.below(8) == 0) return bapi::Stop{.trial = trial, .why = {.rule = Rule::uniform_draw}};
        const Epoch last = history.trial(trial).curve.last_epoch();
        return Resume{
            .trial = trial, .until = std::min(most, last + 1 + rng.below(3)), .why = {.rule = Rule::uniform_draw}};
      }
      return Start{.config = {{rng.uniform()}}, .until = 1 + rng.below(5), .why = {.rule = Rule::uniform_draw}};
    }

   private:
    const double waits_;
  };

  void somebody_leads() {
    const double now = clock_.now();
    if (now < next_election_) return;
    next_election_ = now + 3.0;
    enter_leader(2.0 * rng_.uniform());
  }

  void enter_leader(double after) {
    Line& line = leaders_.emplace_back();
    line.actor = &stage_.enter([this, &line, after](Stage::Actor& actor) {
      actor.sleep(after);
      guarded([&] { lead(line); });
      line.gone = true;
    });
  }

  // The lock is free once its holder is dead, or was silent for too long.
  void lead(Line& line) {
    if (leading_ && !leading_->gone && clock_.now() - last_sign() <= kLeaderSilence) return;
    leading_ = &line;
    ++outcome_.leaders;
    const std::unique_ptr<MemoryLead> lead = dispatch_.lead();
    LeaderLine dispatch(*this, line, *lead);
    LogLine log(*this, line, *lead);
    Whims policy(plan_.waits);
    for (;;) {
      try {
        Session session(log, policy, clock_);
        ClusterEvaluator evaluator(
            session, dispatch, dispatch, clock_, {.lease = plan_.lease, .patience = 1e9, .remark = {}});
        TuneOptions options;
        options.keep_going = true;
        bapi::lead(session, evaluator, clock_, options);
        return;
      } catch (const Shortage&) {
        line.actor->sleep(1.0);
      }
    }
  }

  double last_sign() const { return clock_.now() - dispatch_.look(WorkerId{1}).leader_silent; }

  // What must not happen to anybody.
  template <typename Play>
  void guarded(const Play& play) {
    try {
      play();
    } catch (const LeadershipLost&) {
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  // ---- Fate

  void play_fate(Stage::Actor& actor) {
    while (clock_.now() < kFaultsUntil) {
      actor.sleep(-plan_.fault_every * std::log(1.0 - rng_.uniform()));
      ++outcome_.faults;
      const double how_long = 2.0 * plan_.lease * rng_.uniform();
      const double until = clock_.now() + how_long;
      Line* worker = living(workers_);
      Line* leader = living(leaders_);
      switch (rng_.below(9)) {
        case 0:
          if (leader) kill(*leader);
          break;
        case 1:
          if (worker) replace(*worker);
          break;
        case 2:
          if (worker) worker->leave = true;
          enter_worker(how_long);
          break;
        case 3:
          if (worker) worker->cut_until = until;
          break;
        case 4:
          if (worker) worker->frozen_until = until;
          break;
        case 5:
          if (leader) leader->cut_until = until;
          break;
        case 6:
          if (leader) leader->frozen_until = until + (rng_.below(2) == 0 ? kLeaderSilence : 0.0);
          break;
        case 7:
          outage_until_ = until;
          break;
        case 8:  // a cut now, soon after the last one was mended: what is under way arrives twice or not at all
          if (worker) worker->cut_until = clock_.now() + 0.3;
          if (leader) leader->cut_until = clock_.now() + 0.3;
          break;
      }
    }
  }

  void lose_workers(Stage::Actor& actor) {
    for (actor.sleep(plan_.lost_every); !history_.finished(); actor.sleep(plan_.lost_every)) {
      if (Line* worker = living(workers_)) replace(*worker);
    }
  }

  Line* living(std::deque<Line>& lines) {
    std::vector<Line*> alive;
    for (Line& line : lines) {
      if (!line.gone) alive.push_back(&line);
    }
    return alive.empty() ? nullptr : alive[static_cast<std::size_t>(rng_.below(static_cast<int>(alive.size())))];
  }

  void kill(Line& line) {
    line.actor->kill();
    line.gone = true;
    for (Program& program : programs_) {
      if (program.owner == &line && !program.ended) program.ended = program.end_by(clock_.now());
    }
  }

  void replace(Line& line) {
    kill(line);
    enter_worker(30.0 * rng_.uniform());
  }

  // ---- Judgement

  void fail(const std::string& why) {
    if (outcome_.violation.empty()) outcome_.violation = fmt::format("{:.3f} s: {}", clock_.now(), why);
  }

  std::string status() const {
    std::string text = fmt::format("{} of {} spent, {} trials, {} open, {} decisions, {}",
                                   history_.budget().spent(),
                                   history_.budget().total(),
                                   history_.trials().size(),
                                   history_.open_segments(),
                                   history_.decisions(),
                                   history_.finished() ? "finished" : "not finished");
    for (const auto& [trial, order] : dispatch_.orders()) {
      text += fmt::format("; trial {} at worker {}: {}", index(trial), index(order.worker), word(order.command));
    }
    for (const auto& [id, worker] : dispatch_.workers()) {
      if (is_present(worker.state)) {
        text += fmt::format("; worker {} {} until {:.3f}, trains until {:.3f}",
                            index(id),
                            word(worker.state),
                            worker.lease_until,
                            worker.train_until);
      }
    }
    return text;
  }

  bool is_over() const {
    if (!history_.finished()) return false;
    return std::ranges::all_of(workers_, [](const Line& line) { return line.gone; });
  }

  // After every step, from what is in the log and in the dispatch, and from what programs really do.
  void observe() {
    const EventLog news = store_.read(seen_);
    for (const StoredEvent& stored : news.events) {
      if (const auto objection = history_.objection(stored.event)) return fail("the log holds: " + *objection);
      history_.apply(stored.event);
      seen_ = stored.seq;
      if (history_.finished()) outcome_.ended = clock_.now();
    }
    if (plan_.spec.budget.meter != Meter::accrued) return;
    double rights = 0.0;
    std::map<TrialId, double> unpaid;  // seconds that programs have run, beyond what is charged or may still be
    for (const auto& [trial, order] : dispatch_.orders()) {
      const double right = std::max(0.0, dispatch_.workers().at(order.worker).train_until - order.charged_until);
      rights += right;
      unpaid[trial] -= right;
    }
    const double left = history_.budget().total() - history_.budget().spent();
    if (rights > left + kRounding) {
      fail(fmt::format("rights to train for {} s were granted, but {} s are left of the budget", rights, left));
    }
    for (const Program& program : programs_) unpaid[program.trial] += program.end_by(clock_.now()) - program.began;
    for (const auto& [trial, seconds] : unpaid) {
      const double charged = history_.trial(trial).spent();
      if (seconds <= charged * (1.0 + 2.0 * plan_.drift) + kRounding) continue;
      fail(fmt::format(
          "programs of trial {} have run for {} s more than it was charged", index(trial), seconds - charged));
    }
  }

  void conclude() {
    const std::vector<StoredEvent> events = store_.events(0);
    const Budget budget = history_.budget();
    outcome_.seconds = clock_.now();
    outcome_.total = budget.total();
    outcome_.spent = budget.spent();
    for (const Program& program : programs_) outcome_.trained += program.end_by(clock_.now()) - program.began;
    for (const StoredEvent& stored : events) {
      if (const auto* report = std::get_if<Measured>(&stored.event)) outcome_.epochs += report->measurement.cost;
      const auto* overhead = std::get_if<Overhead>(&stored.event);
      if (overhead && overhead->kind == OverheadKind::lost) outcome_.lost += overhead->cost;
      outcome_.digest = 31 * outcome_.digest + stored.event.index() + static_cast<std::uint64_t>(1e6 * stored.at);
    }
    if (!outcome_.violation.empty()) return;
    if (!history_.finished()) fail("everybody has gone before the study has ended");
    if (ledger_sum(events) != budget.spent()) fail("the ledger does not add up to what was spent");
    if (budget.spent() > budget.total() + kRounding) {
      fail(fmt::format("{} of {} was spent", budget.spent(), budget.total()));
    }
  }

  const ClusterPlan plan_;
  Rng rng_;
  ManualClock clock_;
  MemoryStore store_;
  MemoryDispatch dispatch_{clock_};
  History history_;  // of those who look from outside
  EventSeq seen_ = 0;
  std::deque<Program> programs_;
  std::map<TrialId, Epoch> saved_;  // checkpoints
  double outage_until_ = 0.0;
  std::deque<Line> workers_;
  std::deque<Line> leaders_;
  Line* leading_ = nullptr;
  double next_election_ = 0.0;
  ClusterOutcome outcome_;
  Stage stage_{clock_};  // the actors go first
};

inline ClusterOutcome simulate_cluster(std::uint64_t seed) {
  return SimulatedCluster(seed, ClusterPlan::of(seed)).run();
}

}  // namespace bapi::test
