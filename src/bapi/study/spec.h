#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/base/units.h"
#include "bapi/space/space.h"

namespace bapi {

enum class Goal { maximize, minimize };

template <>
inline constexpr auto names<Goal> = NameTable{Name{Goal::maximize, "maximize"}, Name{Goal::minimize, "minimize"}};

struct Metric {
  std::string name = "value";
  Goal goal = Goal::maximize;
  bool operator==(const Metric&) const = default;
};

// How the cost of an epoch is found.
enum class Meter {
  seconds,   // wall clock of the training process, measured by bapi; `per_hour` turns it into money
  epochs,    // every epoch costs 1
  reported,  // the training program says it, with "cost" in every report
};

template <>
inline constexpr auto names<Meter> =
    NameTable{Name{Meter::seconds, "seconds"}, Name{Meter::epochs, "epochs"}, Name{Meter::reported, "reported"}};

struct BudgetSpec {
  Cost limit = 0.0;        // total, in `unit`
  std::string unit = "s";  // "s", "epochs", "usd", "joule", ...: for people; the meter decides what happens
  Meter meter = Meter::seconds;
  double per_hour = 3600.0;  // units per hour of one process; Meter::seconds only. 3600: the unit is the second
  bool operator==(const BudgetSpec&) const = default;

  Cost of_seconds(double seconds) const { return seconds * (per_hour / 3600.0); }
  double to_seconds(Cost cost) const { return cost / (per_hour / 3600.0); }
};

struct EpochRange {
  Epoch min = 1;
  Epoch max = 1;
  bool operator==(const EpochRange&) const = default;
};

struct PolicySpec {
  std::string name = "bapi";
  std::map<std::string, Value> options = {};
  bool operator==(const PolicySpec&) const = default;
};

// Whether the training program can continue from its checkpoint directory; without, a resumed trial starts at epoch 1
// again and pays for it.
enum class Checkpoint { kept, none };

template <>
inline constexpr auto names<Checkpoint> = NameTable{Name{Checkpoint::kept, "kept"}, Name{Checkpoint::none, "none"}};

// Everything that defines a study. Written once, when the study is created.
struct StudySpec {
  std::string name = {};
  std::vector<std::string> command = {};  // an argument vector with ${macros}; empty for ask/tell and simulation
  Metric metric = {};
  BudgetSpec budget = {};
  std::optional<double> deadline = {};  // seconds of wall clock after the study's first decision
  EpochRange epochs = {};
  int workers = 1;
  std::uint64_t seed = 0;
  PolicySpec policy = {};
  Space space{{Param{.name = "x", .domain = RealRange{}}}};
  std::vector<Config> pool = {};  // if not empty, the only configurations there are (a table of recorded curves)

  Checkpoint checkpoint = Checkpoint::kept;
  double grace = 2.0;                           // seconds between SIGTERM and SIGKILL
  double report_timeout = 3600.0;               // seconds without a report after which a process has failed
  int max_failures = 10;                        // failed trials in a row that end the study
  std::map<std::string, std::string> env = {};  // more environment variables for the training program

  bool operator==(const StudySpec&) const = default;

  // The grace period that is really given: the budget pays for it, so with a budget in seconds it is at most a
  // fiftieth of each worker's share of `budget.limit`, the total that the study began with. A total that was raised
  // later does not make it longer.
  double effective_grace() const;

  // The epoch after which a process begins that continues a trial of `done` epochs.
  Epoch begins_after(Epoch done) const { return checkpoint == Checkpoint::kept ? done : 0; }

  // Throws InvalidInput naming field, value and rule.
  void validate() const;

  // The same for what goes on from a record, a study that exists or a table: a metric, a command, parameters and
  // variables that are as `recorded` has them are kept, whatever the rules for new names and texts.
  void validate_against(const StudySpec& recorded) const;
};

}  // namespace bapi
