#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/base/units.h"
#include "bapi/space/space.h"
#include "bapi/study/earlier.h"
#include "bapi/study/valuation.h"
#include "bapi/study/wish.h"

namespace bapi {

enum class Goal { maximize, minimize };

template <>
inline constexpr auto names<Goal> = NameTable{Name{Goal::maximize, "maximize"}, Name{Goal::minimize, "minimize"}};

// Between which values a metric can be; an infinite end is open.
struct MetricBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool known() const { return std::isfinite(low) || std::isfinite(high); }
  bool contain(double value) const { return value >= low && value <= high; }
  bool operator==(const MetricBounds&) const = default;
};

struct Metric {
  std::string name = "value";
  Goal goal = Goal::maximize;
  int smooth = 1;                           // see Valuation
  ValueOf of = ValueOf::best;               // the epoch by which a trial counts
  std::optional<MetricBounds> bounds = {};  // not set: see assumed_bounds
  bool operator==(const Metric&) const = default;

  Valuation valuation() const { return {.smooth = smooth, .of = of}; }
};

// How the cost of an epoch is found.
enum class Meter {
  accrued,   // while a process trains, measured by the clock; `per_hour` turns seconds into money, simulated time is
             // cost
  epochs,    // every epoch costs 1
  reported,  // the training program says it, with "cost" in every report
};

template <>
inline constexpr auto names<Meter> =
    NameTable{Name{Meter::accrued, "seconds"}, Name{Meter::epochs, "epochs"}, Name{Meter::reported, "reported"}};

struct BudgetSpec {
  Cost limit = 0.0;        // total, in `unit`
  std::string unit = "s";  // "s", "epochs", "usd", "joule", ...: for people; the meter decides what happens
  Meter meter = Meter::accrued;
  double per_hour = 3600.0;  // units per hour of one process; Meter::accrued only. 3600: the unit is the second
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

// Which models stay on the disk. Those of trials that may still be resumed always do.
struct KeptCheckpoints {
  int best = 0;       // trials, those with the best values; 0: all
  bool final = true;  // beside the model of a trial's best epoch, what its program saved last
  bool operator==(const KeptCheckpoints&) const = default;
};

// The GPUs that the workers get, each one of them; several workers may share one. Without devices, programs see what
// bapi itself sees.
struct Gpus {
  bool automatic = false;                 // all that this machine has, found when the study is run
  std::vector<std::string> devices = {};  // as CUDA_VISIBLE_DEVICES names them: "0", "GPU-8f2c..."
  int per_gpu = 1;                        // workers that share a GPU
  bool set_workers = false;               // the study file leaves `workers` out: as many as there are places
  bool operator==(const Gpus&) const = default;

  bool given() const { return automatic || !devices.empty(); }
};

// Programs that are told what happens in a study, each an argument vector; empty: nobody is told.
struct Hooks {
  std::vector<std::string> epoch = {};      // an epoch was reported
  std::vector<std::string> best = {};       // it is the best of the study so far
  std::vector<std::string> trial_end = {};  // a trial was completed, stopped or failed
  std::vector<std::string> study_end = {};  // the study has finished
  bool operator==(const Hooks&) const = default;
};

// Where, and with what, a study was run last.
struct Provenance {
  std::string host = {};
  std::string system = {};         // "Linux 6.1.0 x86_64"
  std::string bapi = {};           // its version
  std::string python = {};         // the version of Python that drives the study; empty for programs
  std::string commit = {};         // of the Git repository that the training program is run in; empty without one
  std::optional<bool> dirty = {};  // whether files there differ from the commit; not set: it is not known
  bool operator==(const Provenance&) const = default;
};

using StudyKeys = std::set<std::string, std::less<>>;  // keys of a study file

inline constexpr double kShortestLease = 5.0;    // seconds
inline constexpr double kLongestLease = 3600.0;  // seconds
inline constexpr double kGracesPerLease = 3.0;   // at least

// Everything that defines a study. Written when the study is created, and changed only as studies/spec_change.h allows.
struct StudySpec {
  std::string name = {};
  std::vector<std::string> command = {};  // an argument vector with ${macros}; empty for ask/tell and simulation
  Metric metric = {};
  BudgetSpec budget = {};
  std::optional<double> deadline = {};  // seconds of wall clock after the study's first decision
  EpochRange epochs = {};
  int repeat = 1;  // trainings of every finalist, the first one included; see repeats.h
  int workers = 1;
  Gpus gpus = {};
  std::uint64_t seed = 0;
  PolicySpec policy = {};
  std::vector<NamedValues> tries = {};  // configurations that take the place of the first new ones; may be partial
  std::vector<WarmStart> from = {};     // earlier studies that this one learns from
  Space space{{Param{.name = "x", .domain = RealRange{}}}};
  std::vector<Config> pool = {};  // if not empty, the only configurations there are (a table of recorded curves)

  Checkpoint checkpoint = Checkpoint::kept;
  KeptCheckpoints checkpoints = {};
  double grace = 2.0;                           // seconds between SIGTERM and SIGKILL
  double report_timeout = 3600.0;               // seconds without a report after which a process has failed
  int max_failures = 10;                        // failed trials in a row that end the study
  std::map<std::string, std::string> env = {};  // more environment variables for the training program
  int retries = 1;                              // of a trial whose process died after it had reported
  // Where the program runs: an absolute path, and the same seen from the study's directory, for a study that was moved
  // with it. Empty in studies of version 0.1: where `bapi run` is called.
  std::string cwd = {};
  std::string cwd_from_study = {};
  Hooks hooks = {};
  Provenance provenance = {};
  std::vector<EarlierStudy> earlier = {};  // what was read of `from` when the study was created
  // Whether what a program reports past the end of its segment waits until it is decided how the trial goes on. Not
  // set: see in_lockstep and withholds_epochs_ahead.
  std::optional<bool> lockstep = {};
  std::optional<double> lease = {};  // seconds; see effective_lease

  bool operator==(const StudySpec&) const = default;

  // The grace period that is really given: the budget pays for it, so with a budget in seconds it is at most a
  // fiftieth of each worker's share of `budget.limit`, the total that the study began with. A total that was raised
  // later does not make it longer.
  double effective_grace() const;

  // For how many seconds a worker of a study in a database counts as alive that was not heard of; while it trains, it
  // needs the grace period and more of that to end its programs in time.
  double effective_lease() const { return lease.value_or(std::max(60.0, kGracesPerLease * effective_grace())); }

  // The epoch after which a process begins that continues a trial of `done` epochs.
  Epoch begins_after(Epoch done) const { return checkpoint == Checkpoint::kept ? done : 0; }

  // Whether decisions are independent of how fast programs and bapi happen to be: by default where nothing else that is
  // in the log is up to chance.
  bool in_lockstep() const { return lockstep.value_or(budget.meter == Meter::epochs && workers == 1); }

  // Whether what a program reports past the end of its segment is no fact before it is decided that the trial goes on:
  // epochs that nobody has decided on take nothing from a budget that counts them. The workers of a leader cannot.
  bool withholds_epochs_ahead() const { return lockstep.value_or(budget.meter == Meter::epochs); }

  // Throws InvalidInput naming field, value and rule, a line for each. Rules about a field of which the key is among
  // `unread`, what could not be read of a study file, are not asked.
  void validate(const StudyKeys& unread = {}) const;

  // The same for what goes on from a record, a study that exists or a table: a metric, a command, parameters and
  // variables that are as `recorded` has them are kept, whatever the rules for new names and texts.
  void validate_against(const StudySpec& recorded) const;
};

}  // namespace bapi
