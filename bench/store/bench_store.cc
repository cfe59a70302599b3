// How fast the store is, next to the raw engine in the same run.
//
//   bench_store [--json FILE] [--dir DIRECTORY]
//
// The directory (the current one by default) decides about the disk. Every figure is the median of several rounds in
// which store and floor take turns, so that other load on the machine meets both.

#include <fmt/format.h>
#include <sqlite3.h>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/study/codec.h"
#include "bapi/study/history.h"

namespace bapi {
namespace {

constexpr int kRounds = 7;
constexpr double kAt = 1.75e9;

struct Figure {
  std::string name;
  int n = 0;
  double value = 0.0;
  std::string unit = {};
  double floor = 0.0;  // the raw engine, same unit
  double ratio() const { return value / floor; }
};

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

double seconds_of(const std::function<void()>& work) {
  const SystemClock clock;
  const double start = clock.now();
  work();
  return clock.now() - start;
}

// ---- The raw engine: what a careful programmer writes against SQLite for the same rows.

class RawLog {
 public:
  RawLog(const std::filesystem::path& file, const char* synchronous) {
    expect(
        sqlite3_open_v2(file.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr),
        SQLITE_OK);
    execute("PRAGMA journal_mode = WAL");
    execute(fmt::format("PRAGMA synchronous = {}", synchronous).c_str());
    execute(
        "CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, at REAL, kind TEXT, trial INTEGER, "
        "epoch INTEGER, value REAL, cost REAL, payload TEXT)");
    insert_ = prepare("INSERT INTO event (at, kind, trial, epoch, value, cost, payload) VALUES (?, ?, ?, ?, ?, ?, ?)");
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
  }
  ~RawLog() {
    for (sqlite3_stmt* statement : {insert_, begin_, commit_}) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }
  RawLog(const RawLog&) = delete;
  RawLog& operator=(const RawLog&) = delete;

  void begin() { run(begin_); }
  void commit() { run(commit_); }

  void insert_measured(int trial, int epoch, double value) {
    sqlite3_bind_double(insert_, 1, kAt);
    sqlite3_bind_text(insert_, 2, "measured", -1, SQLITE_STATIC);
    sqlite3_bind_int(insert_, 3, trial);
    sqlite3_bind_int(insert_, 4, epoch);
    sqlite3_bind_double(insert_, 5, value);
    sqlite3_bind_double(insert_, 6, 1.0);
    sqlite3_bind_null(insert_, 7);
    run(insert_);
  }

  void insert_started(int trial, const std::string& payload) {
    sqlite3_bind_double(insert_, 1, kAt);
    sqlite3_bind_text(insert_, 2, "started", -1, SQLITE_STATIC);
    sqlite3_bind_int(insert_, 3, trial);
    sqlite3_bind_int(insert_, 4, 3);
    sqlite3_bind_null(insert_, 5);
    sqlite3_bind_null(insert_, 6);
    sqlite3_bind_text(insert_, 7, payload.data(), static_cast<int>(payload.size()), SQLITE_STATIC);
    run(insert_);
  }

  // Looks at every column of every row.
  double read_all() {
    sqlite3_stmt* select = prepare("SELECT seq, at, kind, trial, epoch, value, cost, payload FROM event");
    double sum = 0.0;
    while (sqlite3_step(select) == SQLITE_ROW) {
      for (const int column : {0, 3, 4}) sum += static_cast<double>(sqlite3_column_int64(select, column));
      for (const int column : {1, 5, 6}) sum += sqlite3_column_double(select, column);
      for (const int column : {2, 7}) {
        sqlite3_column_text(select, column);
        sum += sqlite3_column_bytes(select, column);
      }
    }
    sqlite3_finalize(select);
    return sum;
  }

 private:
  static void expect(int code, int wanted) {
    if (code != wanted) throw StoreError(fmt::format("raw SQLite: code {}", code));
  }

  void execute(const char* sql) { expect(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), SQLITE_OK); }

  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    expect(sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr), SQLITE_OK);
    return statement;
  }

  static void run(sqlite3_stmt* statement) {
    expect(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_reset(statement);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
};

// ---- The study that is written

Event report(int trial, int epoch) {
  return Measured{.trial = TrialId{trial},
                  .measurement = {.epoch = epoch, .value = 1.0 / (trial + epoch), .cost = 1.0}};
}

StudySpec spec_of_study() {
  return {.name = "bench",
          .budget = {.limit = 1e6, .unit = "epochs", .meter = Meter::epochs},
          .epochs = {.min = 1, .max = 30},
          .space = Space({{.name = "lr", .domain = RealRange{.low = 1e-6, .high = 1.0, .scale = Scale::log}},
                          {.name = "units", .domain = IntRange{.low = 16, .high = 256}},
                          {.name = "momentum", .domain = RealRange{}}})};
}

Event start(int trial) {
  return TrialStarted{.trial = TrialId{trial},
                      .config = {{0.01 + trial * 1e-6, std::int64_t{64}, 0.9}},
                      .until = 30,
                      .expected_cost = 30.0,
                      .why = {.rule = Rule::promoted, .standing = RungStanding{.bracket = 3, .rung = 0, .places = 9}}};
}

class Benchmark {
 public:
  explicit Benchmark(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Figure reports(int batch, int n) const {
    return rate(
        fmt::format("durable reports, {} per commit", batch),
        "reports/s",
        n,
        [&](SqliteStore& store) {
          std::vector<Event> facts(static_cast<std::size_t>(batch), report(0, 1));
          for (int i = 0; i < n; i += batch) {
            for (int j = 0; j < batch; ++j) facts[static_cast<std::size_t>(j)] = report(i + j, 1);
            store.append(i, facts, kAt, Durability::process);
          }
        },
        "NORMAL",
        [&](RawLog& raw) {
          for (int i = 0; i < n; i += batch) {
            if (batch > 1) raw.begin();
            for (int j = 0; j < batch; ++j) raw.insert_measured(i + j, 1, 1.0 / (i + j + 1));
            if (batch > 1) raw.commit();
          }
        });
  }

  Figure full_commits(int n) const {
    return rate(
        "decisions, synced one by one",
        "commits/s",
        n,
        [&](SqliteStore& store) {
          for (int i = 0; i < n; ++i) store.append_decision(i, start(i), kAt);
        },
        "FULL",
        [&](RawLog& raw) {
          const std::string payload = encode(start(1));
          for (int i = 0; i < n; ++i) raw.insert_started(i, payload);
        });
  }

  // What a start pays: open, read, fold. The floor opens the same file and reads every column.
  Figure reopening(int trials, int epochs) const {
    const std::filesystem::path file = fresh_file();
    write_study(file, trials, epochs);
    std::vector<double> ours;
    std::vector<double> floor;
    for (int round = 0; round < kRounds; ++round) {
      ours.push_back(1e3 * seconds_of([&] {
                       const SqliteStore store = SqliteStore::open(file, Access::read_only);
                       History history(store.spec());
                       for (const StoredEvent& stored : store.events(0)) history.apply(stored.event);
                       check(history.trials().size() == static_cast<std::size_t>(trials),
                             "the study was not read whole");
                     }));
      floor.push_back(1e3 * seconds_of([&] { check(RawLog(file, "FULL").read_all() > 0.0, "nothing was read"); }));
    }
    return {.name = fmt::format("reopening {} trials x {} reports", trials, epochs),
            .n = trials * (epochs + 2),
            .value = median(ours),
            .unit = "ms",
            .floor = median(floor)};
  }

 private:
  std::filesystem::path fresh_file() const {
    const std::filesystem::path file = directory_ / "bench.db";
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    return file;
  }

  Figure rate(const std::string& name,
              const std::string& unit,
              int n,
              const std::function<void(SqliteStore&)>& ours,
              const char* synchronous,
              const std::function<void(RawLog&)>& raw) const {
    std::vector<double> our_rates;
    std::vector<double> raw_rates;
    for (int round = 0; round < kRounds; ++round) {
      SqliteStore store = SqliteStore::create(fresh_file(), spec_of_study());
      our_rates.push_back(n / seconds_of([&] { ours(store); }));
      check(std::ssize(store.events(0)) == n, "not every event was written");
      RawLog log(fresh_file(), synchronous);
      raw_rates.push_back(n / seconds_of([&] { raw(log); }));
    }
    return {.name = name, .n = n, .value = median(our_rates), .unit = unit, .floor = median(raw_rates)};
  }

  static void write_study(const std::filesystem::path& file, int trials, int epochs) {
    SqliteStore store = SqliteStore::create(file, spec_of_study());
    for (int trial = 0; trial < trials; ++trial) {
      const EventSeq last = EventSeq{trial} * (epochs + 2);
      store.append_decision(last, start(trial), kAt);
      std::vector<Event> facts;
      for (int epoch = 1; epoch <= epochs; ++epoch) facts.push_back(report(trial, epoch));
      facts.emplace_back(SegmentDone{.trial = TrialId{trial}});
      store.append(last + 1, facts, kAt, Durability::process);
    }
  }

  std::filesystem::path directory_;
};

// ---- Output

void print_table(const std::vector<Figure>& figures) {
  fmt::print("{:<36} {:>8} {:>12} {:<10} {:>12} {:>7}\n", "", "n", "bapi", "", "raw SQLite", "ratio");
  for (const Figure& figure : figures) {
    fmt::print("{:<36} {:>8} {:>12.1f} {:<10} {:>12.1f} {:>7.2f}\n",
               figure.name,
               figure.n,
               figure.value,
               figure.unit,
               figure.floor,
               figure.ratio());
  }
}

void write_json(const std::vector<Figure>& figures, const std::string& file) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Figure& figure : figures) {
    json.push_back({{"name", figure.name},
                    {"n", figure.n},
                    {"value", figure.value},
                    {"unit", figure.unit},
                    {"floor", figure.floor},
                    {"ratio", figure.ratio()}});
  }
  std::ofstream output(file);
  output << json.dump(2) << '\n';
  require(output.good(), file + ": cannot be written");
}

std::map<std::string, std::string> options_of(std::vector<std::string> arguments) {
  std::map<std::string, std::string> options{{"--json", ""}, {"--dir", "."}};
  require(arguments.size() % 2 == 0, "usage: bench_store [--json FILE] [--dir DIRECTORY]");
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    require(options.contains(arguments[i]), arguments[i] + ": expected --json or --dir");
    options[arguments[i]] = arguments[i + 1];
  }
  return options;
}

void run(const std::vector<std::string>& arguments) {
  const std::map<std::string, std::string> options = options_of(arguments);
  const std::filesystem::path directory =
      std::filesystem::path(options.at("--dir")) / fmt::format("bench_store.{}", ::getpid());
  std::filesystem::create_directories(directory);
  const Benchmark benchmark(directory);
  const std::vector<Figure> figures{benchmark.reports(1, 20000),
                                    benchmark.reports(64, 64000),
                                    benchmark.full_commits(200),
                                    benchmark.reopening(1000, 30)};
  std::filesystem::remove_all(directory);
  if (options.at("--json").empty()) {
    print_table(figures);
  } else {
    write_json(figures, options.at("--json"));
  }
}

}  // namespace
}  // namespace bapi

int main(int argc, char** argv) {
  try {
    bapi::run({argv + 1, argv + argc});
  } catch (const bapi::Error& error) {
    std::cerr << "bench_store: " << error.what() << '\n';
    return 2;
  }
}
