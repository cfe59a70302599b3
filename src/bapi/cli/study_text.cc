#include "bapi/cli/study_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bapi/report/summary.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

constexpr std::size_t kLabelWidth = 11;

std::string line(const std::string& label, const std::string& text) {
  return fmt::format("{:<{}}{}\n", label, kLabelWidth, text);
}

std::string best_lines(const StudyView& study) {
  const std::optional<Best> found = best(study.history);
  if (!found) return line("best", "none yet: no trial has reported");
  const Trial& trial = study.history.trial(found->trial);
  std::string out = line("best",
                         fmt::format("{} {} · trial {}, epoch {} of {}",
                                     study.spec().metric.name,
                                     short_number(found->value),
                                     index(found->trial),
                                     found->epoch,
                                     trial.curve.last_epoch()));
  return out + line("", to_text(Cell(fields_of(found->config, study.spec().space))));
}

std::string budget_lines(const StudyView& study) {
  const BudgetSpec& unit = study.spec().budget;
  const Budget budget = study.history.budget();
  std::string out =
      line("budget", fmt::format("{} of {} spent", short_cost(budget.spent(), unit), short_cost(budget.total(), unit)));
  if (budget.spent() <= 0.0) return out;

  const Spending sums = spending(ledger(study.events));
  const Cost training = sums[static_cast<std::size_t>(CostKind::epoch)];
  std::vector<std::string> overheads;
  for (const CostKind kind : kCostKinds) {
    const Cost sum = sums[static_cast<std::size_t>(kind)];
    if (kind != CostKind::epoch && sum > 0.0) {
      overheads.push_back(fmt::format("{} {}", word(kind), short_cost(sum, unit)));
    }
  }
  if (overheads.empty()) return out;
  const auto share = [&](Cost cost) { return 100.0 * cost / budget.spent(); };
  const Cost overhead = std::max(0.0, budget.spent() - training);
  return out + line("",
                    fmt::format("{} on epochs ({:.1f} %), {} overhead ({:.1f} %): {}",
                                short_cost(training, unit),
                                share(training),
                                short_cost(overhead, unit),
                                share(overhead),
                                fmt::join(overheads, ", ")));
}

std::string trials_line(const StudyView& study) {
  const TrialCounts counts = count_trials(study.history, study.controller);
  std::vector<std::string> parts;
  const auto add = [&](int count, const char* name) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, name));
  };
  add(counts.running, "running");
  add(counts.interrupted, "interrupted");
  add(counts.paused, "paused");
  add(counts.completed, "completed");
  add(counts.stopped, "stopped");
  add(counts.failed, "failed");
  if (parts.empty()) return line("trials", "none yet");
  return line("trials", fmt::format("{}: {}", study.history.trials().size(), fmt::join(parts, ", ")));
}

std::string place_lines(const StudyView& study) {
  std::string out = line("files", shown_path(study.dir.root()) + "/");
  if (!study.history.incumbent()) return out;
  const TrialDir trial = study.dir.trial(*study.history.incumbent());
  const std::string checkpoint = best_checkpoint(study.dir, study.history);
  if (!checkpoint.empty()) out += line("checkpoint", shown_path(checkpoint) + "/");
  if (!study.spec().command.empty()) out += line("log", shown_path(trial.log()));
  return out;
}

}  // namespace

std::string state_text(const StudyView& study) {
  const std::string state(study_state(study.history, study.controller));
  if (state == "finished") return "finished: " + study.history.finish_reason();
  if (state != "interrupted") return state;
  if (study.spec().command.empty()) return "interrupted; the program that made it continues it when it is run again";
  return "interrupted; bapi resume " + shown_path(study.dir.root()) + " continues it";
}

std::string study_text(const StudyView& study) {
  return line("study", study.spec().name + " (" + study.spec().policy.name + ")") + line("state", state_text(study)) +
         best_lines(study) + budget_lines(study) + trials_line(study) + place_lines(study);
}

std::string raise_hint(const StudyView& study) {
  const BudgetSpec& unit = study.spec().budget;
  const Cost twice = 2.0 * study.history.budget().total();
  const std::string amount = unit.meter == Meter::seconds && unit.unit == "s"
                                 ? fmt::format("{:.0f}s", twice)
                                 : fmt::format("\"{} {}\"", short_number(twice), unit.unit);
  return fmt::format("bapi resume {} --budget {}", shown_path(study.dir.root()), amount);
}

}  // namespace bapi
