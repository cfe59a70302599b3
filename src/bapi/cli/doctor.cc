#include <fmt/format.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/log_tail.h"
#include "bapi/cli/study_check.h"
#include "bapi/cli/study_input.h"
#include "bapi/policy/registry.h"
#include "bapi/process/process_evaluator.h"
#include "bapi/report/text.h"
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

// What came of training one trial for some epochs.
struct Attempt {
  std::vector<Measurement> measured;
  std::optional<std::string> failure;
  Cost start_up = 0.0;
  Cost repeated = 0.0;
  bool ended_by_itself = false;
};

class Patient {
 public:
  Patient(const StudySpec& spec, const fs::path& scratch, double timeout)
      : spec_(spec), dir_(scratch / "study"), evaluator_(spec, dir_, clock_), timeout_(timeout) {
    dir_.create();
  }

  TrialDir files() const { return dir_.trial(TrialId{0}); }

  // Epochs (from, until] and nothing more.
  Attempt train(const Config& config, Epoch from, Epoch until) {
    Attempt attempt;
    const double start = clock_.now();
    evaluator_.start({.trial = TrialId{0},
                      .config = config,
                      .from = from,
                      .until = until,
                      .max_epoch = until,
                      .budget_left = spec_.budget.limit,
                      .usual_epoch = usual_epoch_cost(curve_)});
    bool released = false;
    while (!evaluator_.live().empty() || !released) {
      for (const Event& fact : evaluator_.wait(0.1)) note(fact, attempt);
      const bool trained = std::ssize(attempt.measured) >= until - from;
      const bool done = trained || attempt.failure || attempt.ended_by_itself;
      const bool late = clock_.now() - start > timeout_;
      if (late && !done) attempt.failure = fmt::format("no report within {}", short_duration(timeout_));
      if (interrupt_.flag()->load()) attempt.failure = "interrupted";
      if (!released && (done || late || interrupt_.flag()->load())) {
        evaluator_.release(TrialId{0});
        released = true;
      }
    }
    for (const Measurement& m : attempt.measured) curve_.append(m);
    return attempt;
  }

 private:
  static void note(const Event& fact, Attempt& attempt) {
    std::visit(Match{[&](const Measured& e) { attempt.measured.push_back(e.measurement); },
                     [&](const TrialFailed& e) { attempt.failure = e.message; },
                     [&](const ProgramEnded&) { attempt.ended_by_itself = true; },
                     [&](const Overhead& e) {
                       if (e.kind == OverheadKind::start_up) attempt.start_up += e.cost;
                       if (e.kind == OverheadKind::repeat) attempt.repeated += e.cost;
                     },
                     [](const auto&) {}},
               fact);
  }

  const StudySpec& spec_;
  StudyDir dir_;
  SystemClock clock_;
  InterruptFlag interrupt_;
  ProcessEvaluator evaluator_;
  Curve curve_;  // of all attempts
  double timeout_;
};

Config middle_of(const StudySpec& spec) {
  return spec.pool.empty() ? spec.space.from_unit(Vector::Constant(spec.space.unit_dim(), 0.5)) : spec.pool.front();
}

std::string line(const std::string& label, const std::string& text) { return fmt::format("{:<14}{}\n", label, text); }

std::string range_text(double low, double high, Scale scale) {
  const char* how = scale == Scale::linear ? "" : scale == Scale::log ? ", log scale" : ", log scale towards the top";
  return fmt::format("{} to {}{}", short_number(low), short_number(high), how);
}

std::string domain_text(const Domain& domain) {
  return std::visit(Match{[](const RealRange& r) { return range_text(r.low, r.high, r.scale); },
                          [](const IntRange& r) {
                            return range_text(static_cast<double>(r.low), static_cast<double>(r.high), r.scale) +
                                   ", whole numbers";
                          },
                          [](const Choice& c) {
                            std::string out = "one of";
                            for (const Value& option : c.options) out += fmt::format(" {}", to_text(option));
                            return out;
                          },
                          [](const Constant& c) { return fmt::format("always {}", to_text(c.value)); }},
                    domain);
}

std::string understood(const StudySpec& spec) {
  std::string command;
  for (const std::string& word : spec.command) command += (command.empty() ? "" : " ") + word;
  std::string out = line("study", spec.name) + line("command", command);
  out += line("metric", fmt::format("{}, {}", spec.metric.name, word(spec.metric.goal)));
  out += line("budget", short_cost(spec.budget.limit, spec.budget));
  if (spec.deadline) out += line("deadline", short_duration(*spec.deadline));
  out += line("epochs", fmt::format("{} to {}", spec.epochs.min, spec.epochs.max));
  out += line("policy", fmt::format("{}, {} worker{}", spec.policy.name, spec.workers, spec.workers == 1 ? "" : "s"));
  const char* label = "parameters";
  for (const Param& param : spec.space.params()) {
    std::string text = fmt::format("{}: {}", param.name, domain_text(param.domain));
    for (const Condition& condition : param.when) {
      text += fmt::format(", if {} is", condition.param);
      for (const Value& value : condition.values) text += fmt::format(" {}", to_text(value));
    }
    out += line(label, text);
    label = "";
  }
  return out;
}

std::string evidence(const TrialDir& files) {
  const std::string tail = log_tail(files.log(), 15);
  return tail.empty() ? "The program printed nothing.\n" : "The program's last output:\n" + tail;
}

int diagnose_failure(const Attempt& attempt, const TrialDir& files, const StudySpec& spec) {
  const std::string why = attempt.failure.value_or("the program ended without reporting an epoch");
  print(line("epoch 1", "FAILED: " + why) + "\n" + evidence(files));
  print(
      fmt::format("\nThe program must report epoch 1, by printing a line  bapi: {{\"epoch\": 1, \"{0}\": 0.5}}\n"
                  "or by appending {{\"epoch\": 1, \"{0}\": 0.5}} to the file named by the variable BAPI_REPORT.\n",
                  spec.metric.name));
  return why == "interrupted" ? kInterrupted : kRunFailed;
}

std::string affordable(const StudySpec& spec, Cost epoch, Cost start_up) {
  if (epoch <= 0.0) return "cannot be told: the epoch cost nothing";
  const Cost full = start_up + epoch * spec.epochs.max;
  return fmt::format("about {} epochs of this configuration, or {} full trainings of {} epochs",
                     short_number(std::floor(spec.budget.limit / epoch)),
                     short_number(std::floor(10.0 * spec.budget.limit / full) / 10.0),
                     spec.epochs.max);
}

// What a trial costs per epoch, once it runs.
Cost epoch_cost(const Attempt& attempt) {
  Cost sum = 0.0;
  for (const Measurement& m : attempt.measured) sum += m.cost;
  return sum / static_cast<double>(attempt.measured.size());
}

std::string epochs_text(const StudySpec& spec, const Attempt& attempt) {
  std::string out;
  for (const Measurement& m : attempt.measured) {
    out +=
        line(fmt::format("epoch {}", m.epoch),
             fmt::format("{} {}, cost {}", spec.metric.name, short_number(m.value), short_cost(m.cost, spec.budget)));
  }
  if (attempt.start_up > 0.0) out += line("start-up", short_cost(attempt.start_up, spec.budget));
  return out;
}

std::string continuation(const StudySpec& spec, const Attempt& next) {
  if (next.failure) return "FAILED: " + *next.failure;
  if (next.repeated > 0.0) {
    return "NO, it began at epoch 1 again: keep the state in ${checkpoint} and continue after BAPI_FROM_EPOCH, or say "
           "checkpoint: none";
  }
  if (next.measured.empty()) return "NO, it ended without reporting another epoch";
  const Measurement& m = next.measured.front();
  return fmt::format("yes, epoch {} followed with {} {}", m.epoch, spec.metric.name, short_number(m.value));
}

// A program that begins anew reports epoch 1; so does one that only says where it stands after epoch 1. After epoch 2
// the two can be told apart.
Epoch first_stretch(const StudySpec& spec) { return spec.epochs.max > 2 ? 2 : 1; }

ExitCode try_continuing(const StudySpec& spec, Patient& patient, const Config& config) {
  if (spec.epochs.max == 1) return kDone;
  if (spec.checkpoint == Checkpoint::none) {
    print(line("continues", "not asked to (checkpoint: none): a resumed trial begins at epoch 1"));
    return kDone;
  }
  const Epoch from = first_stretch(spec);
  const Attempt next = patient.train(config, from, from + 1);
  print(line("continues", continuation(spec, next)));
  if (!next.failure && next.repeated == 0.0 && !next.measured.empty()) return kDone;
  print(fmt::format("\n{}\n", evidence(patient.files())));
  return kRunFailed;
}

int doctor(const DoctorArguments& arguments) {
  if (names_study(arguments.input.file)) return check_study(arguments.input.file, arguments.repair);
  require(!arguments.repair, "--repair: expected a study, its directory or name");
  StudySpec spec = spec_of(arguments.input);
  spec.validate();
  make_policy(spec.policy);  // checks its options
  print(understood(spec));
  const double timeout = arguments.timeout ? parse_duration(*arguments.timeout, "--timeout") : spec.report_timeout;
  spec.workers = 1;

  const ScratchDir scratch;
  Patient patient(spec, scratch.path(), timeout);
  const Config config = middle_of(spec);
  print(line("tried with", to_text(Cell(fields_of(config, spec.space)))));
  std::fflush(stdout);
  const Attempt first = patient.train(config, 0, first_stretch(spec));
  if (first.measured.empty()) return diagnose_failure(first, patient.files(), spec);
  print(epochs_text(spec, first));
  std::fflush(stdout);
  const ExitCode code = try_continuing(spec, patient, config);
  print(line("budget pays", affordable(spec, epoch_cost(first), first.start_up)));
  return code;
}

}  // namespace

Command doctor_command() {
  return {
      .name = "doctor",
      .summary = "Check a study file and try the training program for a few epochs, or check a study's log",
      .examples =
          "Examples:\n"
          "  bapi doctor study.yaml\n"
          "  bapi doctor --budget 30m --epochs 50 --metric accuracy -- ./train --lr~'log(1e-5,1)'\n"
          "  bapi doctor mlp.bapi --repair repaired.bapi\n\n"
          "Prints what was understood, trains the middle of the space for two epochs in a scratch directory, then "
          "one\nmore from the checkpoint, and says what the budget will pay for. Nothing is kept.\n"
          "Given a study instead of a file, it reads the log to its end. If an event is damaged, --repair writes a\n"
          "copy of the study up to there that can be resumed; the study itself is not changed.\n"
          "Exit codes: 0 all is well, 1 the program failed or did not continue, 2 the study file is wrong,\n3 the log "
          "is damaged.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<DoctorArguments>();
        parsed->input.declare(arguments);
        arguments.option("--timeout", parsed->timeout, "Wait this long for a report; default: report_timeout");
        arguments.option("--repair", parsed->repair, "Directory for a copy of a damaged study, up to the damage");
        return [parsed] { return doctor(*parsed); };
      }};
}

}  // namespace bapi
