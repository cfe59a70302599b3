// What a database carries between a leader and its workers.
//
//   bench_cluster_load URL [--json FILE] [--workers 300] [--seconds 60]
//
// The leader is the real one (session, loop, ClusterEvaluator), and so are the workers (WorkerLoop, a connection each);
// made up are the training programs, which report an epoch every few seconds, and the policy, which decides at once.
// Writes figures as the other benchmarks do.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/base/wall_clock.h"
#include "bapi/control/cluster_evaluator.h"
#include "bapi/control/lead.h"
#include "bapi/control/worker_loop.h"
#include "bapi/policy/registry.h"
#include "bapi/store/postgres_dispatch.h"
#include "bapi/store/postgres_schema.h"
#include "bapi/store/postgres_store.h"
#include "bapi/studies/study_opening.h"

namespace bapi {
namespace {

using SteadyClock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(SteadyClock::now().time_since_epoch()).count(); }

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, seconds))); }

double quantile(std::vector<double> numbers, double share) {
  if (numbers.empty()) return std::nan("");
  std::ranges::sort(numbers);
  const auto last = static_cast<double>(numbers.size() - 1);
  return numbers[static_cast<std::size_t>(std::llround(share * last))];
}

class Figures {
 public:
  void add(const std::string& name, int n, double value, const std::string& unit) {
    fmt::print(stderr, "{} (n = {}): {:.4g} {}\n", name, n, value, unit);
    list_.push_back(
        {{"name", name}, {"n", n}, {"value", value}, {"unit", unit}, {"floor", nullptr}, {"ratio", nullptr}});
  }
  void write(const std::string& file) const { std::ofstream(file) << list_.dump(2) << "\n"; }

 private:
  nlohmann::json list_ = nlohmann::json::array();
};

std::shared_ptr<PostgresConnection> connect(const DatabaseUrl& url) {
  return std::make_shared<PostgresConnection>(url);
}

StudySpec study(const std::string& name, int workers) {
  StudySpec spec{.name = name,
                 .metric = {.name = "accuracy", .goal = Goal::maximize},
                 .budget = {.limit = 1e7, .unit = "epochs", .meter = Meter::epochs},
                 .epochs = {.min = 1, .max = 9},
                 .workers = workers,
                 .policy = {.name = "hyperband"},
                 .space = Space({Param{.name = "x", .domain = RealRange{.low = 0.0, .high = 1.0}}})};
  spec.lockstep = false;
  return spec;
}

void remove_study(const DatabaseUrl& url, const std::string& name) {
  connect(url)->run("DELETE FROM bapi.study WHERE name = $1", {std::string_view(name)});
}

// ---- Deliveries, as fast as they go

void measure_throughput(const DatabaseUrl& url, int connections, Figures& figures) {
  constexpr double kSeconds = 10.0;
  PostgresStore::create(connect(url), "throughput", study("throughput", connections));
  std::atomic<std::int64_t> delivered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] {
      const auto db = connect(url);
      PostgresWorkerDispatch dispatch(db, PostgresStore::open(db, "throughput").id());
      const WorkerId worker = dispatch.join({.host = fmt::format("node{}", i), .pid = i}).worker;
      const double until = now() + kSeconds;
      for (std::int64_t number = 1; now() < until; ++number, ++delivered) {
        const Measurement report{.epoch = static_cast<Epoch>(number), .value = 0.5, .cost = 1.0};
        dispatch.deliver(worker, {.number = number, .facts = {Measured{.trial = TrialId{i}, .measurement = report}}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  figures.add("deliveries per second", connections, static_cast<double>(delivered) / kSeconds, "1/s");
  remove_study(url, "throughput");
}

// ---- A leader and many workers

// When facts were sent, and how long it took until they were in the log and until a worker had its next order.
class Book {
 public:
  void sent(const Event& fact) {
    const std::scoped_lock lock(mutex_);
    if (const auto* report = std::get_if<Measured>(&fact)) {
      sent_.try_emplace({report->trial, report->measurement.epoch}, now());
    }
  }
  void recorded(const Event& fact) {
    const auto* report = std::get_if<Measured>(&fact);
    if (!report) return;
    const std::scoped_lock lock(mutex_);
    const auto found = sent_.find({report->trial, report->measurement.epoch});
    if (found == sent_.end()) return;
    to_log_.push_back(now() - found->second);
    sent_.erase(found);
  }
  void delivered(double seconds) {
    const std::scoped_lock lock(mutex_);
    statements_.push_back(seconds);
  }
  void next_order(double seconds) {
    const std::scoped_lock lock(mutex_);
    next_orders_.push_back(seconds);
  }

  // What happened before was the beginning.
  void begin() {
    const std::scoped_lock lock(mutex_);
    to_log_.clear();
    statements_.clear();
    next_orders_.clear();
  }
  std::vector<double> to_log() const { return copy(to_log_); }
  std::vector<double> statements() const { return copy(statements_); }
  std::vector<double> next_orders() const { return copy(next_orders_); }

 private:
  std::vector<double> copy(const std::vector<double>& numbers) const {
    const std::scoped_lock lock(mutex_);
    return numbers;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<TrialId, Epoch>, double> sent_;
  std::vector<double> to_log_;
  std::vector<double> statements_;
  std::vector<double> next_orders_;
};

// A connection of a worker, timed.
class TimedDispatch : public WorkerDispatch {
 public:
  TimedDispatch(const DatabaseUrl& url, const std::string& name, Book& book)
      : db_(connect(url)), dispatch_(db_, PostgresStore::open(db_, name).id()), book_(book) {}

  Joined join(const WorkerCard& card) override { return dispatch_.join(card); }
  Receipt deliver(WorkerId worker, const Delivery& delivery) override {
    for (const Event& fact : delivery.facts) book_.sent(fact);
    const double begin = now();
    const Receipt receipt = dispatch_.deliver(worker, delivery);
    if (delivery.says_something()) book_.delivered(now() - begin);
    return receipt;
  }
  Instructions look(WorkerId worker) const override { return dispatch_.look(worker); }
  void change_state(WorkerId worker, WorkerState state) override { dispatch_.change_state(worker, state); }
  bool wait(WorkerId worker, double seconds) override { return dispatch_.wait(worker, seconds); }

 private:
  std::shared_ptr<PostgresConnection> db_;
  PostgresWorkerDispatch dispatch_;
  Book& book_;
};

// The leader's side, counted.
class CountedDispatch : public LeaderDispatch {
 public:
  explicit CountedDispatch(LeaderDispatch& dispatch) : dispatch_(dispatch) {}

  Board read() override { return dispatch_.read(); }
  std::vector<WorkOrder> orders() override { return dispatch_.orders(); }
  Pace pace() override { return dispatch_.pace(); }
  void set_pace(const Pace& pace) override { dispatch_.set_pace(pace); }
  std::vector<WorkOrder> put_all(std::span<const WorkOrder> orders) override {
    ++writes;
    written += static_cast<int>(orders.size());
    return dispatch_.put_all(orders);
  }
  void settle_with_next_append(const Settlement& settlement) override { dispatch_.settle_with_next_append(settlement); }
  void settle() override { dispatch_.settle(); }
  std::optional<WorkerRecord> declare_lost(WorkerId worker) override { return dispatch_.declare_lost(worker); }
  void set_aside(WorkerId worker) override { dispatch_.set_aside(worker); }
  bool wait(double seconds) override { return dispatch_.wait(seconds); }

  int writes = 0;   // that waited for the disk
  int written = 0;  // orders

 private:
  LeaderDispatch& dispatch_;
};

// One trial at a time, an epoch every so many seconds; holds at the end of a segment, as programs do where epochs are
// counted.
class PacedProgram : public Evaluator {
 public:
  PacedProgram(double epoch_seconds, double phase, Book& book)
      : epoch_seconds_(epoch_seconds), phase_(phase), book_(book) {}

  int slots() const override { return 1; }
  void start(const Segment& segment) override {
    if (idle_since_) book_.next_order(now() - *std::exchange(idle_since_, std::nullopt));
    segment_ = segment;
    if (epoch_ != segment.from || !runs_) epoch_ = segment.from;
    runs_ = true;
    reports_at_ = now() + std::exchange(phase_, 0.0) + epoch_seconds_;
  }
  void release(TrialId trial) override {
    if (runs_ && segment_.trial == trial) runs_ = false;
  }
  std::vector<TrialId> live() const override { return runs_ ? std::vector{segment_.trial} : std::vector<TrialId>(); }
  std::vector<Event> wait(double seconds) override {
    const double until = now() + seconds;
    const bool trains = runs_ && epoch_ < segment_.until;
    sleep_for((trains ? std::min(until, reports_at_) : until) - now());
    if (!trains || now() < reports_at_) return {};
    reports_at_ += epoch_seconds_;
    const Measurement report{.epoch = ++epoch_, .value = 1.0 - 1.0 / (epoch_ + 1.0), .cost = 1.0};
    std::vector<Event> facts{Measured{.trial = segment_.trial, .measurement = report}};
    if (epoch_ == segment_.until) {
      facts.emplace_back(SegmentDone{.trial = segment_.trial});
      idle_since_ = now();
    }
    return facts;
  }
  Running running() const override { return {}; }

 private:
  const double epoch_seconds_;
  double phase_;
  Book& book_;
  Segment segment_;
  Epoch epoch_ = 0;
  bool runs_ = false;
  double reports_at_ = 0.0;
  std::optional<double> idle_since_;
};

struct Load {
  int workers = 300;
  double rate = 100.0;  // reports per second, of all
  double seconds = 60.0;
};

void measure_load(const DatabaseUrl& url, const Load& load, Figures& figures) {
  constexpr double kWarmUp = 15.0;  // seconds until all have joined and have work
  const StudySpec spec = study("load", load.workers);
  const auto db = leader_connection(url);
  PostgresStore store = PostgresStore::create(db, "load", spec);
  const auto lead = PostgresLead::take(db, store.id(), "");
  store.write_under(*lead);
  const auto policy = make_policy(spec.policy);
  Session session(store, *policy, lead->clock());
  Book book;
  session.listen([&](const StoredEvent& stored) { book.recorded(stored.event); });
  CountedDispatch counted(*lead);
  ClusterEvaluator evaluator(session, *lead, counted, lead->clock());
  evaluator.announce(StudyPhase::open);

  std::atomic<bool> leave = false;
  std::atomic<int> troubles = 0;
  std::vector<std::thread> threads;
  const SystemClock system;
  for (int i = 0; i < load.workers; ++i) {
    threads.emplace_back([&, i] {
      try {
        const WallClock clock(system);
        const double epoch_seconds = load.workers / load.rate;
        TimedDispatch dispatch(url, "load", book);
        WorkerLoop(
            dispatch,
            [&] { return std::make_unique<PacedProgram>(epoch_seconds, epoch_seconds * i / load.workers, book); },
            clock,
            {.card = {.host = fmt::format("node{}", i), .pid = i},
             .leave = &leave,
             .remark = [&](const std::string& line) { fmt::print(stderr, "worker {}: {}\n", i, line), ++troubles; }})
            .run();
      } catch (const std::exception& error) {
        fmt::print(stderr, "worker {}: {}\n", i, error.what());
        ++troubles;
      }
    });
  }

  std::atomic<bool> interrupt = false;
  int most_slots = 0;
  int before = 0;
  const double began = now();
  bool warm = false;
  const ThreadClock processor;
  double busy_before = 0.0;
  const auto reports = [&] { return static_cast<int>(session.history().budget().spent()); };
  const auto watch = [&](const Session&, const Evaluator& all) {
    most_slots = std::max(most_slots, all.slots());
    if (!warm && now() - began > kWarmUp) {
      warm = true;
      book.begin();
      before = reports();
      busy_before = processor.now();
      counted.writes = counted.written = 0;
    }
    if (now() - began > kWarmUp + load.seconds) interrupt = true;
  };
  bapi::lead(session,
             evaluator,
             lead->clock(),
             {.interrupt = &interrupt, .observer = watch, .thought = TuneOptions::Thought::beside_the_loop});
  const int recorded = reports() - before;
  const double busy = processor.now() - busy_before;
  leave = true;
  for (std::thread& thread : threads) thread.join();

  const int n = load.workers;
  figures.add("workers that joined", n, most_slots, "");
  figures.add("workers in trouble", n, troubles, "");
  figures.add("reports recorded per second", n, recorded / load.seconds, "1/s");
  figures.add("processor time of the leader for a report", n, 1e3 * busy / std::max(1, recorded), "ms");
  figures.add("delivery statement, median", n, 1e3 * quantile(book.statements(), 0.5), "ms");
  figures.add("delivery statement, p99", n, 1e3 * quantile(book.statements(), 0.99), "ms");
  figures.add("delivery to log, median", n, 1e3 * quantile(book.to_log(), 0.5), "ms");
  figures.add("delivery to log, p99", n, 1e3 * quantile(book.to_log(), 0.99), "ms");
  figures.add("segment end to next order, median", n, 1e3 * quantile(book.next_orders(), 0.5), "ms");
  figures.add("orders written", n, counted.written, "");
  figures.add("orders in one write, mean", n, static_cast<double>(counted.written) / std::max(1, counted.writes), "");
  figures.add("segment end to next order, p99", n, 1e3 * quantile(book.next_orders(), 0.99), "ms");
  remove_study(url, "load");
}

// ---- A log that is taken over

// A study in the database whose trials were all trained to epoch `until` of 48.
void write_study(const DatabaseUrl& url, const std::string& name, int trials, Epoch until) {
  StudySpec spec = study(name, 4);
  spec.command = {"./train"};
  spec.epochs = {.min = 1, .max = 48};
  spec.policy = {.name = "random"};
  PostgresStore store = PostgresStore::create(connect(url), name, spec);
  EventSeq last = 0;
  for (int number = 0; number < trials; ++number) {
    const TrialId trial{number};
    const double x = std::fmod(number * 0.618033988749895, 1.0);
    store.append_decision(
        last,
        TrialStarted{.trial = trial, .config = {{x}}, .until = until, .why = {.rule = Rule::uniform_draw}},
        1.75e9);
    std::vector<Event> facts;
    for (Epoch epoch = 1; epoch <= until; ++epoch) {
      const double value = (1.0 - (x - 0.3) * (x - 0.3)) * (1.0 - 1.0 / (epoch + 1.0));
      facts.emplace_back(
          Measured{.trial = trial, .measurement = Measurement{.epoch = epoch, .value = value, .cost = 1.0}});
    }
    facts.emplace_back(SegmentDone{.trial = trial});
    store.append(++last, facts, 1.75e9, Durability::process);
    last += std::ssize(facts);
  }
}

// Stays in the database; bench_cluster.py kills its leader.
void measure_replay(const DatabaseUrl& url, Figures& figures) {
  constexpr int kTrials = 2000;  // with 50 events each
  write_study(url, "replay", kTrials, 48);
  const double begin = now();
  const OpenedStudy opened = take_over_study({.database = url, .name = "replay"}, "");
  figures.add("taking over a log", static_cast<int>(opened.events.size()), now() - begin, "s");
}

void measure_many_trials(const DatabaseUrl& url, int trials, Figures& figures) {
  write_study(url, "trials", trials, 1);
  const double begin = now();
  const OpenedStudy opened = take_over_study({.database = url, .name = "trials"}, "");
  figures.add("taking over a study, by trials", trials, now() - begin, "s");
  for (const char* name : {"asha", "bapi"}) {
    const std::unique_ptr<Policy> policy = make_policy({.name = name});
    const double asked = now();
    Rng rng(1);
    policy->ask(opened.history, rng);
    figures.add(fmt::format("a decision of {}", name), trials, 1e3 * (now() - asked), "ms");
  }
  remove_study(url, "trials");
}

// ---- Decisions with many open segments

// A search of four parameters, whose better trials were trained further; `open` more have begun.
History busy_history(int open) {
  constexpr int kTried = 2000;
  StudySpec spec = study("busy", open);
  spec.epochs = {.min = 1, .max = 27};
  spec.policy = {.name = "bapi"};
  std::vector<Param> space;
  for (const char* name : {"a", "b", "c", "d"}) {
    space.push_back({.name = name, .domain = RealRange{.low = 0.0, .high = 1.0}});
  }
  spec.space = Space(space);
  History history(spec);
  Rng rng(1);
  const auto start = [&](Epoch until) {
    const TrialId trial{std::ssize(history.trials())};
    Config config;
    for (std::size_t i = 0; i < space.size(); ++i) config.values.emplace_back(rng.uniform());
    history.apply(TrialStarted{.trial = trial, .config = config, .until = until, .why = {.rule = Rule::uniform_draw}});
    return trial;
  };
  for (int i = 0; i < kTried; ++i) {
    const Epoch until = std::min(27, 3 << (i % 32 == 0 ? 4 : i % 16 == 0 ? 3 : i % 8 == 0 ? 2 : i % 4 == 0 ? 1 : 0));
    const TrialId trial = start(until);
    double end = 1.0;
    for (const Value& value : history.trial(trial).config.values) {
      end -= (std::get<double>(value) - 0.3) * (std::get<double>(value) - 0.3);
    }
    for (Epoch epoch = 1; epoch <= until; ++epoch) {
      const double value = end * (1.0 - std::pow(0.8, epoch)) + 0.01 * rng.normal();
      history.apply(Measured{.trial = trial, .measurement = Measurement{.epoch = epoch, .value = value, .cost = 1.0}});
    }
    history.apply(SegmentDone{.trial = trial});
  }
  for (int i = 0; i < open; ++i) start(3);
  return history;
}

void measure_decisions(Figures& figures) {
  const ThreadClock clock;
  for (const int open : {0, 100, 1000}) {
    const History history = busy_history(open);
    const std::unique_ptr<Policy> policy = make_policy({.name = "bapi"});
    double least = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 3; ++repeat) {
      Rng rng(static_cast<std::uint64_t>(repeat));
      const double begin = clock.now();
      policy->ask(history, rng);
      least = std::min(least, clock.now() - begin);
    }
    figures.add("a decision of bapi, by open segments", open, 1e3 * least, "ms");
  }
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: bench_cluster_load URL [--json FILE] [--workers N] [--seconds S]\n";
    return 2;
  }
  const DatabaseUrl url{std::string(argv[1])};
  Load load;
  std::string json;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--json") json = argv[i + 1];
    if (option == "--workers") load.workers = std::stoi(argv[i + 1]);
    if (option == "--seconds") load.seconds = std::stod(argv[i + 1]);
  }
  Figures figures;
  measure_decisions(figures);
  PostgresConnection db(url);
  migrate_schema(db);
  measure_throughput(url, 32, figures);
  measure_load(url, load, figures);
  measure_replay(url, figures);
  measure_many_trials(url, 100'000, figures);
  if (!json.empty()) figures.write(json);
  return 0;
}

}  // namespace
}  // namespace bapi

int main(int argc, char** argv) {
  try {
    return bapi::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
