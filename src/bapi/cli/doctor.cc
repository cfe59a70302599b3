#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/database_check.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/log_tail.h"
#include "bapi/cli/patient.h"
#include "bapi/cli/study_check.h"
#include "bapi/cli/study_input.h"
#include "bapi/policy/registry.h"
#include "bapi/process/failure_text.h"
#include "bapi/process/gpus.h"
#include "bapi/report/range_text.h"
#include "bapi/report/text.h"
#include "bapi/store/database_url.h"
#include "bapi/studies/earlier_studies.h"
#include "bapi/study/macros.h"
#include "bapi/study/metric_bounds.h"
#include "bapi/study/spec_file.h"

namespace bapi {

namespace {

namespace fs = std::filesystem;

struct DoctorArguments {
  StudyInput input;
  std::optional<std::string> timeout;
  std::optional<std::string> repair;
};

// A directory that is gone again with the object.
class ScratchDir {
 public:
  ScratchDir() {
    std::string pattern = (fs::temp_directory_path() / "bapi-doctor-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw StoreError(pattern + ": cannot make a scratch directory");
    path_ = pattern;
  }
  ~ScratchDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Config middle_of(const StudySpec& spec) {
  return spec.pool.empty() ? spec.space.from_unit(Vector::Constant(spec.space.unit_dim(), 0.5)) : spec.pool.front();
}

std::string understood(const StudySpec& spec) {
  std::string command;
  for (const std::string& word : spec.command) command += (command.empty() ? "" : " ") + word;
  std::string out = check_line("study", spec.name) + check_line("command", command);
  out += check_line("metric", fmt::format("{}, {}", spec.metric.name, word(spec.metric.goal)));
  out += check_line("budget", short_cost(spec.budget.limit, spec.budget));
  if (spec.deadline) out += check_line("deadline", short_duration(*spec.deadline));
  out += check_line("epochs", fmt::format("{} to {}", spec.epochs.min, spec.epochs.max));
  out += check_line("policy",
                    fmt::format("{}, {} worker{}", spec.policy.name, spec.workers, spec.workers == 1 ? "" : "s"));
  const std::vector<std::string> gpus = gpus_of(spec, Machine::this_one());
  if (!gpus.empty()) {
    const std::string shared = spec.gpus.per_gpu == 1 ? "" : fmt::format("; up to {} workers each", spec.gpus.per_gpu);
    out += check_line("gpus", fmt::format("{}{}", fmt::join(gpus, ", "), shared));
  }
  const char* label = "parameters";
  for (const Param& param : spec.space.params()) {
    out += check_line(label, fmt::format("{}: {}", param.name, domain_text(param)));
    label = "";
  }
  for (const EarlierStudy& earlier : spec.earlier) out += check_line("starts from", earlier_text(earlier));
  return out;
}

// What the program printed, unless the message has it already.
std::string evidence(const TrialDir& files, const std::string& message) {
  if (failure_headline(message) != message) return "";
  const std::string tail = log_tail(files.log(), 15);
  return tail.empty() ? "The program printed nothing.\n" : "The program's last output:\n" + tail;
}

int diagnose_failure(const Attempt& attempt, const TrialDir& files, const StudySpec& spec) {
  const std::string why = attempt.failure.value_or("the program ended without reporting an epoch");
  print(check_line("epoch 1", "FAILED: " + why));
  if (attempt.cause == FailureCause::not_run) return kRunFailed;
  print("\n" + evidence(files, why));
  print(
      fmt::format("\nThe program must report epoch 1, by printing a line  bapi: {{\"epoch\": 1, \"{0}\": 0.5}}\n"
                  "or by appending {{\"epoch\": 1, \"{0}\": 0.5}} to the file named by the variable BAPI_REPORT.\n",
                  spec.metric.name));
  return why == "interrupted" ? kInterrupted : kRunFailed;
}

// What training costs where it was tried, in the budget's unit.
struct Prices {
  Cost epoch = 0.0;
  Cost start_up = 0.0;  // of every process
};

// Seconds for an epoch that follows another one in the same process. Reports that were read together have no time
// between them, but what they were charged.
double epoch_seconds(const StudySpec& spec, const Attempt& first) {
  const double seen = first.seconds[1] - first.seconds[0];
  return spec.budget.meter == Meter::accrued ? std::max(seen, spec.budget.to_seconds(first.measured[1].cost)) : seen;
}

bool shows_timing(const Attempt& first, const Attempt& second) {
  return first.seconds.size() > 1 && !second.seconds.empty() && !first.gone_with_its_reports;
}

// The first epoch of a process has its start-up in it. An epoch that follows another in the same process has not, and
// the second start, made with warm caches as later ones will be, shows the difference.
Prices prices_of(const StudySpec& spec, const Attempt& first, const Attempt* second) {
  if (spec.budget.meter == Meter::accrued && second && shows_timing(first, *second)) {
    const double epoch = epoch_seconds(spec, first);
    return {.epoch = spec.budget.of_seconds(epoch),
            .start_up = spec.budget.of_seconds(std::max(0.0, second->seconds.front() - epoch))};
  }
  const bool split = first.start_up > 0.0 || first.measured.size() < 2;
  Prices prices{.epoch = split ? first.measured.front().cost : first.measured.back().cost, .start_up = first.start_up};
  if (prices.epoch <= 0.0 &&
      spec.budget.meter == Meter::accrued) {  // shorter than the ticks of the kernel's file times
    prices.epoch = spec.budget.of_seconds(first.seconds.back() / static_cast<double>(first.seconds.size()));
  }
  if (!second || spec.budget.meter != Meter::accrued) return prices;
  if (!second->measured.empty() && first.measured.size() > 1) {
    prices.start_up = second->start_up + std::max(0.0, second->measured.front().cost - prices.epoch);
  }
  return prices;
}

std::string budget_text(const StudySpec& spec, const Prices& prices) {
  if (prices.epoch <= 0.0) return "unknown: the epoch cost nothing";
  const Cost full = prices.start_up + prices.epoch * spec.epochs.max;
  return fmt::format("about {} epochs of this configuration, or {} full trainings of {} epochs",
                     short_number(std::floor(std::max(0.0, spec.budget.limit - prices.start_up) / prices.epoch)),
                     short_number(std::floor(10.0 * spec.budget.limit / full) / 10.0),
                     spec.epochs.max);
}

bool pays_an_epoch(const StudySpec& spec, const Prices& prices) {
  return prices.start_up + prices.epoch <= spec.budget.limit;
}

std::string too_small(const StudySpec& spec, const Prices& prices) {
  return fmt::format("NOT ONE EPOCH: {} for a start and an epoch, but the budget is {}; a full training needs {}",
                     short_cost(prices.start_up + prices.epoch, spec.budget),
                     short_cost(spec.budget.limit, spec.budget),
                     short_cost(prices.start_up + prices.epoch * spec.epochs.max, spec.budget));
}

// Of an attempt with an epoch at least, that was to train to epoch `until`.
std::string epochs_text(const StudySpec& spec, const Attempt& attempt, Epoch until) {
  std::string out;
  double before = 0.0;
  for (std::size_t i = 0; i < attempt.measured.size(); ++i) {
    const Measurement& m = attempt.measured[i];
    std::string text = fmt::format(
        "{} {}, after {}", spec.metric.name, short_number(m.value), short_duration(attempt.seconds[i] - before));
    if (spec.budget.meter == Meter::reported) text += fmt::format(", cost {}", short_cost(m.cost, spec.budget));
    if (i == 0) text += " with the start of the program";
    out += check_line(fmt::format("epoch {}", m.epoch), text);
    before = attempt.seconds[i];
  }
  const Epoch reached = attempt.measured.back().epoch;
  const std::string next = fmt::format("epoch {}", reached + 1);
  if (attempt.failure) {
    out += check_line(next, "FAILED: " + *attempt.failure);
  } else if (reached < until) {
    out += check_line(next,
                      fmt::format("NOT REPORTED: the program ended after epoch {}. It must report every epoch, up to "
                                  "BAPI_MAX_EPOCH ({} here)",
                                  reached,
                                  until));
  }
  return out;
}

// In seconds, whatever the budget is in.
std::string timing_text(const StudySpec& spec, const Attempt& first, const Attempt& second) {
  if (first.seconds.size() < 2 || second.seconds.empty()) return "";
  if (!shows_timing(first, second)) {
    return check_line("start-up",
                      "unknown, like the time of an epoch: all reports arrived when the program ended. Is its "
                      "output buffered? Flush after every report");
  }
  const double epoch = epoch_seconds(spec, first);
  const double again = std::max(0.0, second.seconds.front() - epoch);
  const double at_first = std::max(0.0, first.seconds.front() - epoch);
  const std::string first_start =
      at_first > again ? fmt::format(", at the first start {}", short_duration(at_first)) : "";
  return check_line("start-up",
                    fmt::format("{}{}; an epoch takes {}", short_duration(again), first_start, short_duration(epoch)));
}

std::string resuming(const StudySpec& spec, const Attempt& next, Epoch epoch) {
  if (next.failure) return "FAILED: " + *next.failure;
  if (next.repeated > 0.0) {
    return "NO, it started at epoch 1 again: save the state in ${checkpoint} and continue after BAPI_FROM_EPOCH, or "
           "set checkpoint: none";
  }
  if (next.measured.empty()) return fmt::format("NO, it ended without reporting epoch {}", epoch);
  const Measurement& m = next.measured.front();
  return fmt::format("yes, with epoch {} ({} {})", m.epoch, spec.metric.name, short_number(m.value));
}

// ── what works today and will hurt later ────────────────────────────────────────────────────────────────────────────

// Files that an epoch wrote over instead of replacing them.
std::vector<std::string> overwritten(const CheckpointFiles& before, const CheckpointFiles& after) {
  std::vector<std::string> names;
  for (const auto& [name, file] : after) {
    const auto old = before.find(name);
    if (old == before.end()) continue;
    if (old->second.inode == file.inode && old->second.written != file.written) names.push_back(name);
  }
  return names;
}

void warn_of_checkpoints(const CheckpointFiles& before, const CheckpointFiles& after) {
  if (before.empty()) {
    warn(
        "the checkpoint directory stayed empty: a resumed trial continues with an untrained model. Save the "
        "state in ${checkpoint} (BAPI_CHECKPOINT_DIR), or set checkpoint: none");
  }
  const std::vector<std::string> names = overwritten(before, after);
  if (names.empty()) return;
  warn(fmt::format(
      "{} is overwritten in place, so that a kill while saving leaves half a file. Write a new file next to "
      "it and rename it: os.replace in Python, mv in a shell",
      names.front()));
}

void warn_of_a_command_without_parameters(const StudySpec& spec) {
  if (hands_over_parameters(spec.command)) return;
  warn(
      "no parameter is in the command: unless the program reads the file that BAPI_CONFIG names, it trains the same "
      "every "
      "time. Add \"${args}\" for --NAME VALUE of every parameter, or \"${NAME}\" for one value");
}

void warn_of_epoch_zero(const StudySpec& spec, const std::vector<ReportLine>& reports) {
  for (const ReportLine& report : reports) {
    const std::optional<std::string> text = epoch_zero_text(report, spec.metric.name);
    if (!text) continue;
    warn(*text);
    return;
  }
}

// Below this it does not matter when reports arrive.
constexpr double kShortRun = 0.5;

void warn_of_late_reports(const Patient& patient, const Attempt& first) {
  if (!first.gone_with_its_reports || first.measured.size() < 2 || !patient.prints_its_reports()) return;
  if (first.seconds.front() < kShortRun) return;
  warn(
      fmt::format("all reports arrived together, when the program ended after {}. If epochs took most of that time, "
                  "its output is buffered and bapi cannot stop it in time: flush after every report, or append reports "
                  "to the file BAPI_REPORT",
                  short_duration(first.seconds.back())));
}

// Below this it does not matter to what a start is charged: in seconds, and in epochs.
constexpr double kShortStart = 1.0;
constexpr double kFewEpochs = 2.0;

// Only a program that says when it is ready tells the start of its first process from the first epoch.
void warn_of_a_long_start(const StudySpec& spec, const Attempt& first, const Attempt& second) {
  if (spec.budget.meter != Meter::accrued || !shows_timing(first, second) || first.start_up > 0.0) return;
  const double epoch = epoch_seconds(spec, first);
  const double start = second.seconds.front() - epoch;
  if (start < std::max(kShortStart, kFewEpochs * epoch)) return;
  warn(
      "the start takes longer than an epoch and is charged to the first epoch of every trial: report {\"ready\": true} "
      "when training begins (in a shell: bapi report ready=true), and forecasts of costs tell them apart");
}

std::string bounds_text(const MetricBounds& bounds) {
  if (std::isinf(bounds.high)) return fmt::format("not below {}", short_number(bounds.low));
  if (std::isinf(bounds.low)) return fmt::format("not above {}", short_number(bounds.high));
  const char* what = bounds.low == 0.0 && bounds.high == 100.0 ? ", a percentage" : "";
  return fmt::format("{} to {}{}", short_number(bounds.low), short_number(bounds.high), what);
}

// What forecasts take for granted, and where it comes from.
std::string bounds_line(const Metric& metric, const MetricBounds& bounds) {
  if (metric.bounds && !bounds.known()) return fmt::format("none for {}, as given", metric.name);
  if (!bounds.known()) {
    return fmt::format(
        "none assumed for {}; if it has any, for example no value below 0, write metric: {{bounds: [0, null]}}",
        metric.name);
  }
  const char* source = metric.bounds ? "as given" : "assumed from name and values; metric: {bounds: ...} changes it";
  return fmt::format("{} {} ({})", metric.name, bounds_text(bounds), source);
}

void tell_bounds(const StudySpec& spec, const Attempt& first) {
  std::vector<double> values;
  for (const Measurement& m : first.measured) values.push_back(m.value);
  const MetricBounds bounds = bounds_of(spec.metric, values);
  print(check_line("bounds", bounds_line(spec.metric, bounds)));
  for (const double value : values) {
    if (bounds.contain(value)) continue;
    warn(
        fmt::format("{} was {}, outside of its bounds, {}: forecasts take such values for the nearest bound; correct "
                    "metric: {{bounds: ...}} or the reports",
                    spec.metric.name,
                    short_number(value),
                    bounds_text(bounds)));
    break;
  }
  const std::optional<Goal> usual = usual_goal(spec.metric.name);
  if (usual && *usual != spec.metric.goal) {
    warn(fmt::format("the goal is to {} {}; if less is better, write goal: minimize, else goal: maximize",
                     word(spec.metric.goal),
                     spec.metric.name));
  }
}

// A program that begins anew reports epoch 1; so does one that only says where it stands after epoch 1. After epoch 2
// the two can be told apart.
Epoch first_stretch(const StudySpec& spec) { return spec.epochs.max > 2 ? 2 : 1; }

// The second start, where there is one.
std::optional<Attempt> second_start(const StudySpec& spec, Patient& patient, const Config& config) {
  if (spec.epochs.max == 1) return std::nullopt;
  if (spec.checkpoint == Checkpoint::none) {
    print(check_line("resumes", "not asked to (checkpoint: none): a resumed trial starts at epoch 1"));
    return std::nullopt;
  }
  const Epoch from = first_stretch(spec);
  const CheckpointFiles before = patient.checkpoint();
  const Attempt next = patient.train(config, from, from + 1);
  print(check_line("resumes", resuming(spec, next, from + 1)));
  if (!next.failure && next.repeated == 0.0) warn_of_checkpoints(before, patient.checkpoint());
  return next;
}

bool resumed(const Attempt& next) { return !next.failure && next.repeated == 0.0 && !next.measured.empty(); }

int doctor(const DoctorArguments& arguments) {
  if (DatabaseUrl::is_one(arguments.input.file)) {
    require(!arguments.repair, "--repair: expected a study in a directory");
    return check_database(arguments.input.file);
  }
  if (names_study(arguments.input.file)) return check_study(arguments.input.file, arguments.repair);
  require(!arguments.repair, "--repair: expected a study, its directory or name");
  StudySpec spec = spec_of(arguments.input);
  spec.validate();
  make_policy(spec.policy);  // checks its options
  spec = with_workers_for_gpus(std::move(spec), Machine::this_one());
  spec = with_earlier_studies(std::move(spec), fs::current_path() / (spec.name + ".bapi"), {});
  print(understood(spec));
  warn_of_a_command_without_parameters(spec);
  const double timeout = arguments.timeout ? parse_duration(*arguments.timeout, "--timeout") : spec.report_timeout;
  spec.workers = 1;
  if (spec.cwd.empty()) spec.cwd = home_of(arguments.input).string();

  const ScratchDir scratch;
  Patient patient(spec, scratch.path(), timeout);
  const Config config = middle_of(spec);
  print(check_line("tried with", to_text(Cell(fields_of(config, spec.space)))));
  std::fflush(stdout);
  const Attempt first = patient.train(config, 0, first_stretch(spec));
  if (first.measured.empty()) return diagnose_failure(first, patient.files(), spec);
  print(epochs_text(spec, first, first_stretch(spec)));
  std::fflush(stdout);
  const std::optional<Attempt> second = second_start(spec, patient, config);
  const Prices prices = prices_of(spec, first, second ? &*second : nullptr);
  if (second) {
    print(timing_text(spec, first, *second));
    warn_of_a_long_start(spec, first, *second);
  }
  tell_bounds(spec, first);
  warn_of_late_reports(patient, first);
  warn_of_epoch_zero(spec, patient.reports());
  const bool enough = pays_an_epoch(spec, prices);
  print(check_line("budget pays", enough ? budget_text(spec, prices) : too_small(spec, prices)));
  const bool sound = !first.failure && (!second || resumed(*second));
  if (!sound) {
    const std::string failure = first.failure.value_or(second ? second->failure.value_or("") : "");
    print(fmt::format("\n{}\n", evidence(patient.files(), failure)));
  }
  return sound && enough ? kDone : kRunFailed;
}

}  // namespace

Command doctor_command() {
  return {
      .name = "doctor",
      .summary = "Try a study file for a few epochs, or check a study",
      .examples =
          "Examples:\n"
          "  bapi doctor study.yaml\n"
          "  bapi doctor --budget 30m --epochs 50 --metric accuracy -- \\\n"
          "      ./train --lr~'log(1e-5,1)'\n"
          "  bapi doctor mlp.bapi --repair repaired.bapi\n"
          "  bapi doctor postgresql://ann@db/tuning\n\n"
          "Prints how the study file was understood, trains the middle of the space for two epochs in a scratch\n"
          "directory, then one more from the checkpoint. Shows how long a start and an epoch take, what the budget "
          "pays\nfor, and what would go wrong later (checkpoints that are overwritten in place, reports that arrive "
          "at the end).\nNothing is kept.\n"
          "Given a study instead of a file, it reads the log to its end. If an event is damaged, --repair writes a\n"
          "copy of the study up to there that can be resumed; the study itself is not changed.\n"
          "Given a database, it warns of what is unsafe: plain connections, no passwords, old servers.\n"
          "Exit codes: 0 all is well, 1 the program failed or did not resume, or the budget does not cover an epoch,\n"
          "2 the study file is wrong, 3 the log is damaged.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<DoctorArguments>();
        parsed->input.declare(arguments);
        arguments.option("--timeout", parsed->timeout, "Wait this long for a report; default: report_timeout");
        arguments.option("--repair", parsed->repair, "Directory for a copy of a damaged study, up to the damage");
        return [parsed] { return doctor(*parsed); };
      }};
}

}  // namespace bapi
