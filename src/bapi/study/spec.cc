#include "bapi/study/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/study/names.h"
#include "bapi/study/spec_fields.h"

namespace bapi {
namespace {

// What several checks object to, one line each, so that one mistake does not hide the next. A check about a field that
// could not be read is left out: it would only repeat that.
class Objections {
 public:
  explicit Objections(const StudyKeys& unread) : unread_(unread) {}

  template <typename Check>
  void of(std::initializer_list<std::string_view> about, Check&& check) {
    for (const std::string_view key : about) {
      if (unread_.contains(key)) return;
    }
    try {
      check();
    } catch (const InvalidInput& error) {
      lines_ += (lines_.empty() ? "" : "\n") + std::string(error.what());
    }
  }

  // Throws InvalidInput with all of them, if there are any.
  void refuse() const { require(lines_.empty(), lines_); }

 private:
  const StudyKeys& unread_;
  std::string lines_;
};

const StudyKeys kAllRead = {};

void validate_budget(const BudgetSpec& budget) {
  require(std::isfinite(budget.limit) && budget.limit > 0.0,
          fmt::format("budget: limit = {}, must be positive and finite", budget.limit));
  require(std::isfinite(budget.per_hour) && budget.per_hour > 0.0,
          fmt::format("budget: per_hour = {}, must be positive and finite", budget.per_hour));
  require(!budget.unit.empty(), "budget: the unit is empty");
}

void accept(std::string_view where, const std::optional<std::string>& mistake) {
  if (mistake) throw InvalidInput(fmt::format("{}: {}", where, *mistake));
}

void validate_metric(const Metric& metric) { accept("metric", metric_name_mistake(metric.name)); }

void validate_bounds(const std::optional<MetricBounds>& bounds) {
  require(!bounds || bounds->low < bounds->high,
          fmt::format("metric.bounds: [{}, {}], expected the lower end first, for example [0, 1]",
                      bounds ? bounds->low : 0.0,
                      bounds ? bounds->high : 0.0));
}

void validate_epochs(const EpochRange& epochs) {
  require(epochs.min >= 1, fmt::format("epochs: min = {}, must be at least 1", epochs.min));
  require(epochs.max >= epochs.min, fmt::format("epochs: max = {} is below min = {}", epochs.max, epochs.min));
}

void validate_smoothing(const StudySpec& spec) {
  require(spec.metric.smooth <= std::max(1, spec.epochs.max),
          fmt::format("metric: smooth is {}, but a full training has {} epochs; expected no more than these",
                      spec.metric.smooth,
                      spec.epochs.max));
}

constexpr int kMostTrainings = 100;  // of a finalist; more is a mistake

void validate_repeat(int repeat) {
  require(repeat <= kMostTrainings,
          fmt::format("repeat: {}, expected how often every finalist is trained, 1 to {}", repeat, kMostTrainings));
}

void validate_room_to_repeat(const StudySpec& spec) {
  if (spec.repeat > kMostTrainings || spec.repeat < 2 || spec.budget.meter != Meter::epochs) return;
  const double least = static_cast<double>(spec.repeat + 1) * spec.epochs.max;
  require(spec.budget.limit >= least,
          fmt::format("repeat: {} trainings of {} epochs and a search do not fit a budget of {} epochs; expected at "
                      "least {} epochs. Raise the budget, or lower repeat or epochs",
                      spec.repeat,
                      spec.epochs.max,
                      spec.budget.limit,
                      least));
}

void validate_command(const std::vector<std::string>& command) {
  for (const std::string& argument : command) accept("command", text_mistake(argument));
}

void validate_variables(const std::map<std::string, std::string>& env) {
  for (const auto& [name, content] : env) {
    accept("env", variable_name_mistake(name));
    accept("env: " + name, text_mistake(content));
  }
}

void validate_gpus(const Gpus& gpus) {
  for (const std::string& device : gpus.devices) accept("gpus", gpu_name_mistake(device));
}

void validate_variables_of_gpus(const StudySpec& spec) {
  for (const char* variable : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR"}) {
    require(!spec.gpus.given() || !spec.env.contains(variable),
            fmt::format("env: {} is set for every worker by gpus; leave one of them out", variable));
  }
}

void validate_places_on_gpus(const StudySpec& spec) {
  const Gpus& gpus = spec.gpus;
  if (gpus.devices.empty()) return;
  const auto places = std::ssize(gpus.devices) * gpus.per_gpu;
  require(spec.workers <= places,
          fmt::format("workers: {}, but gpus has places for {}; give more GPUs, or let workers share them: "
                      "gpus: {{devices: [{}], per_gpu: {}}}",
                      spec.workers,
                      places,
                      fmt::join(gpus.devices, ", "),
                      (spec.workers + std::ssize(gpus.devices) - 1) / std::ssize(gpus.devices)));
}

void validate_tries(const StudySpec& spec) {
  Objections all(kAllRead);
  for (std::size_t i = 0; i < spec.tries.size(); ++i) {
    all.of({}, [&] {
      try {
        wish_of(spec.tries[i], spec.space);
      } catch (const InvalidInput& error) {
        throw InvalidInput(fmt::format("try[{}]: {}", i, error.what()));
      }
    });
  }
  all.refuse();
}

// What was read of earlier studies: a log that was tampered with must not lead astray.
void validate_earlier(const StudySpec& spec) {
  for (const EarlierStudy& study : spec.earlier) {
    require(!study.trials.empty(), fmt::format("earlier: {} has no trial", study.name));
    for (const EarlierTrial& trial : study.trials) {
      validate_wish(trial.config, spec.space);
      const bool sound =
          !trial.epochs.empty() && trial.epochs.size() == trial.values.size() && trial.epochs.front() >= 1 &&
          trial.epochs.back() <= spec.epochs.max &&
          std::adjacent_find(trial.epochs.begin(), trial.epochs.end(), std::greater_equal<>()) == trial.epochs.end() &&
          std::all_of(trial.values.begin(), trial.values.end(), [](double v) { return std::isfinite(v); });
      require(sound, fmt::format("earlier: a curve of {} is damaged", study.name));
    }
  }
}

void validate_value(const Param& param, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) accept("parameters: " + param.name, text_mistake(*text));
}

void validate_texts(const Space& space) {
  for (const Param& param : space.params()) {
    if (const auto* constant = std::get_if<Constant>(&param.domain)) validate_value(param, constant->value);
    if (const auto* choice = std::get_if<Choice>(&param.domain)) {
      for (const Value& option : choice->options) validate_value(param, option);
    }
  }
}

// What cannot be kept is not promised.
void validate_lockstep_in_time(const StudySpec& spec) {
  if (!spec.lockstep.value_or(false)) return;
  require(spec.budget.meter != Meter::accrued,
          "lockstep: yes, but the budget is in time, which never comes out the same twice; expected a budget in epochs "
          "or in a unit that the program reports. Change the budget, or leave lockstep out");
}

void validate_lockstep_of_one(const StudySpec& spec) {
  if (!spec.lockstep.value_or(false)) return;
  require(spec.workers == 1,
          fmt::format("lockstep: yes, but workers is {}, and their trials report in any order; expected workers: 1. "
                      "Change it, or leave lockstep out",
                      spec.workers));
}

void validate_lease(const StudySpec& spec) {
  if (!spec.lease || !std::isfinite(*spec.lease)) return;
  require(*spec.lease >= kShortestLease && *spec.lease <= kLongestLease,
          fmt::format("lease: {} s, expected {} s to {} s", *spec.lease, kShortestLease, kLongestLease));
  require(*spec.lease >= kGracesPerLease * spec.grace,
          fmt::format("lease: {} s, but grace is {} s, within which programs have to end before their worker's lease "
                      "does; expected at least {} times as much",
                      *spec.lease,
                      spec.grace,
                      kGracesPerLease));
}

// Whether every number is in the range that its line in spec_fields.h allows.
class RangeCheck {
 public:
  explicit RangeCheck(Objections& objections, std::string path = {})
      : objections_(objections), path_(std::move(path)) {}

  template <typename T>
  void operator()(const Field& field, const T& value) {
    objections_.of({field.key}, [&] { check(field, path_ + std::string(field.name), value); });
  }

 private:
  template <typename T>
  static void check(const Field& field, const std::string& path, const std::optional<T>& value) {
    if (value) check(field, path, *value);
  }

  static void check(const Field& field, const std::string& path, int value) {
    const int least = field.sign == Field::Sign::positive ? 1 : 0;
    require(field.sign == Field::Sign::any || value >= least,
            fmt::format("{}: {}, must be at least {}", path, value, least));
  }

  static void check(const Field& field, const std::string& path, double value) {
    const bool positive = field.sign == Field::Sign::positive;
    require(field.sign == Field::Sign::any || (std::isfinite(value) && (positive ? value > 0.0 : value >= 0.0)),
            fmt::format("{}: {}{}, must {}",
                        path,
                        value,
                        field.seconds ? " seconds" : "",
                        positive ? "be positive" : "not be negative"));
  }

  template <typename T>
  static void check(const Field&, const std::string& path, const T& value) {
    if constexpr (Listed<const T, RangeCheck>) {
      Objections objections(kAllRead);
      RangeCheck inside(objections, path + ".");
      fields(inside, value);
      objections.refuse();
    }
  }

  Objections& objections_;
  std::string path_;
};

// All rules but those for texts that older versions let pass.
void validate_rules(const StudySpec& spec, const StudyKeys& unread) {
  Objections all(unread);
  all.of({"name"}, [&] { accept("name", study_name_mistake(spec.name)); });
  all.of({"metric"}, [&] { require(!spec.metric.name.empty(), "metric: the name is empty"); });
  all.of({"budget"}, [&] { validate_budget(spec.budget); });
  all.of({"epochs"}, [&] { validate_epochs(spec.epochs); });
  all.of({"cwd"}, [&] {
    require(spec.cwd.empty() || spec.cwd.front() == '/', fmt::format("cwd: {}, must be an absolute path", spec.cwd));
  });
  all.of({"gpus"}, [&] { validate_gpus(spec.gpus); });
  all.of({"gpus", "env"}, [&] { validate_variables_of_gpus(spec); });
  all.of({"gpus", "workers"}, [&] { validate_places_on_gpus(spec); });
  all.of({"lockstep", "budget"}, [&] { validate_lockstep_in_time(spec); });
  all.of({"lockstep", "workers"}, [&] { validate_lockstep_of_one(spec); });
  all.of({"lease", "grace"}, [&] { validate_lease(spec); });
  all.of({"metric", "epochs"}, [&] { validate_smoothing(spec); });
  all.of({"metric"}, [&] { validate_bounds(spec.metric.bounds); });
  all.of({"repeat"}, [&] { validate_repeat(spec.repeat); });
  all.of({"repeat", "budget", "epochs"}, [&] { validate_room_to_repeat(spec); });
  RangeCheck ranges(all);
  fields(ranges, spec);
  all.refuse();
  all.of({"try", "parameters"}, [&] { validate_tries(spec); });
  all.refuse();
  validate_earlier(spec);
  for (const Config& config : spec.pool) spec.space.validate(config);
}

}  // namespace

double StudySpec::effective_grace() const {
  if (budget.meter != Meter::accrued) return grace;
  return std::min(grace, 0.02 * budget.to_seconds(budget.limit) / workers);
}

void StudySpec::validate(const StudyKeys& unread) const {
  Objections all(unread);
  all.of({"metric"}, [&] { validate_metric(metric); });
  all.of({"command"}, [&] { validate_command(command); });
  all.of({"env"}, [&] { validate_variables(env); });
  all.of({"parameters"}, [&] { validate_texts(space); });
  all.of({}, [&] { validate_rules(*this, unread); });
  all.refuse();
}

void StudySpec::validate_against(const StudySpec& recorded) const {
  if (metric.name != recorded.metric.name) validate_metric(metric);
  if (command != recorded.command) validate_command(command);
  if (env != recorded.env) validate_variables(env);
  if (space != recorded.space) validate_texts(space);
  validate_rules(*this, kAllRead);
}

}  // namespace bapi
