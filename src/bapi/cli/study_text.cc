#include "bapi/cli/study_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bapi/cli/listing.h"
#include "bapi/cli/terminal.h"
#include "bapi/control/allowance.h"
#include "bapi/process/failure_text.h"
#include "bapi/report/range_text.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/best_model.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/earlier_studies.h"
#include "bapi/study/wish.h"

namespace bapi {

namespace {

std::string best_lines(const StudyView& study) {
  const std::optional<Best> found = best(study.history);
  if (!found) return labelled("best", "no report yet");
  std::string out = labelled("best",
                             fmt::format("{} {}{} · trial {}, epoch {} of {}",
                                         study.spec().metric.name,
                                         value_text(*found),
                                         found->trainings > 1 ? fmt::format(" ({} trainings)", found->trainings) : "",
                                         index(found->trial),
                                         found->epoch,
                                         study.spec().epochs.max));
  out += labelled("", to_text(Cell(fields_of(found->config, study.spec().space))));
  if (found->trainings > 1) {
    out += labelled("",
                    fmt::format("mean ± standard error; the best of these trainings is trial {} with {}",
                                index(found->trial),
                                short_number(found->trial_value)));
  }
  for (const std::string& sentence : at_the_ends(study.spec().space, found->config)) {
    for (const std::string& line : wrapped_words(sentence, kScreenColumns - kLabelWidth)) out += labelled("", line);
  }
  return out;
}

// What is kept back for the repeats of the finalists, as long as it is.
std::string reserve_line(const StudyView& study) {
  const Cost reserved = study.history.budget().reserved();
  if (study.history.finished() || !(reserved > 0.0)) return "";
  return labelled("",
                  fmt::format("{} reserved to train the finalists again (repeat: {})",
                              short_cost(reserved, study.spec().budget),
                              study.spec().repeat));
}

std::string budget_lines(const StudyView& study) {
  const BudgetSpec& unit = study.spec().budget;
  const Budget budget = study.history.budget();
  std::string out = labelled("budget", fmt::format("{} spent", spent_of(budget.spent(), budget.total(), unit)));
  out += reserve_line(study);
  if (budget.spent() <= 0.0) return out;

  const Spending sums = spending(ledger(study.events));
  const Cost training = training_of(sums);
  std::vector<std::string> overheads;
  for (const CostKind kind : kCostKinds) {
    const Cost sum = sums[static_cast<std::size_t>(kind)];
    if (!is_training(kind) && sum > 0.0) {
      overheads.push_back(fmt::format("{} {}", word(kind), short_cost(sum, unit)));
    }
  }
  if (overheads.empty()) return out;
  const auto share = [&](Cost cost) { return 100.0 * cost / budget.spent(); };
  const Cost overhead = std::max(0.0, budget.spent() - training);
  out += labelled("",
                  fmt::format("{} of training ({:.1f} %), {} of overhead ({:.1f} %)",
                              short_cost(training, unit),
                              share(training),
                              short_cost(overhead, unit),
                              share(overhead)));
  const char* label = "overhead";
  for (const std::string& part : wrapped(overheads, ", ", kScreenColumns - kLabelWidth)) {
    out += labelled(label, part);
    label = "";
  }
  return out;
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
  if (parts.empty()) return labelled("trials", "none yet");
  return labelled("trials", fmt::format("{}: {}", study.history.trials().size(), fmt::join(parts, ", ")));
}

std::string wishes_line(const StudyView& study) {
  const std::optional<int> next = study.history.next_wish();
  if (!next) return "";
  std::vector<std::string> texts;
  for (const ConfigEnqueued& wish : study.history.wishes().subspan(static_cast<std::size_t>(*next))) {
    texts.push_back(wish_text(wish.wish, study.spec().space));
  }
  return labelled("to try", fmt::format("{}: {}", texts.size(), fmt::join(texts, "; ")));
}

std::string earlier_lines(const StudyView& study) {
  std::string out;
  for (const EarlierStudy& earlier : study.spec().earlier) {
    out += labelled(out.empty() ? "warm start" : "", earlier_text(earlier));
  }
  return out;
}

// The last run: host, version, the commit of the training program.
std::string provenance_line(const StudyView& study) {
  const Provenance& last = study.spec().provenance;
  std::vector<std::string> parts;
  if (!last.host.empty()) parts.push_back(last.host);
  if (!last.bapi.empty()) parts.push_back("bapi " + last.bapi);
  if (!last.python.empty()) parts.push_back("Python " + last.python);
  if (!last.commit.empty()) {
    const std::string changed = last.dirty.value_or(false) ? " with uncommitted changes" : "";
    parts.push_back("commit " + last.commit.substr(0, 12) + changed);
  }
  return parts.empty() ? "" : labelled("run by", fmt::format("{}", fmt::join(parts, ", ")));
}

std::string command_line(const StudyView& study) {
  const std::vector<std::string>& command = study.spec().command;
  return command.empty() ? "" : labelled("command", fmt::format("{}", fmt::join(command, " ")));
}

std::string place_lines(const StudyView& study) {
  std::string out = study.database.empty() ? labelled("files", study.shown() + "/") : labelled("study", study.database);
  if (is_nowhere(study.dir)) return out;
  if (!study.database.empty()) out += labelled("files", study.dir.root().string() + "/");
  if (const DiskUse use = disk_use(study.dir, study.history); use.total() > 0) {
    out += labelled("disk",
                    fmt::format("{}: checkpoints {}, snapshots {}",
                                short_bytes(use.total()),
                                short_bytes(use.checkpoints),
                                short_bytes(use.snapshots)));
  }
  if (!study.history.incumbent()) return out;
  const TrialDir trial = study.dir.trial(*study.history.incumbent());
  const ModelFiles model = best_model(study.dir, study.history);
  if (!model.path.empty()) {
    const std::string epoch = model.epoch ? fmt::format(" (epoch {})", *model.epoch) : "";
    out += labelled("checkpoint", shown_path(model.path) + "/" + epoch);
  }
  if (!model.note.empty()) out += labelled(model.path.empty() ? "checkpoint" : "", model.note);
  if (!study.spec().command.empty()) out += labelled("log", shown_path(trial.log()));
  return out;
}

}  // namespace

namespace {

std::string failures_text(const StudyView& study) {
  const int failures = study.history.failures_in_a_row();
  return fmt::format("{} {} in a row failed (max_failures: {})",
                     failures,
                     failures == 1 ? "trial" : "trials",
                     study.spec().max_failures);
}

// Why the first trial that waits to be continued was broken off, in a line; empty if the user did it.
std::string first_trouble(const History& history) {
  for (const Trial& trial : history.trials()) {
    if (trial.state != TrialState::interrupted || trial.interruption == "interrupted") continue;
    return failure_headline(trial.interruption);
  }
  return "";
}

// Whether the program failed before any trial had reported.
bool stopped_at_first_failure(const StudyView& study) {
  return !study.history.incumbent() && !first_trouble(study.history).empty();
}

bool stopped_by_failures(const StudyView& study) {
  return study.history.failures_in_a_row() >= study.spec().max_failures;
}

// "finished: the budget is spent", "interrupted; continue with ..."
std::string state_text(const StudyView& study) {
  const std::string state(study_state(study.history, study.controller));
  if (state == "finished") return "finished: " + study.history.finish_reason();
  if (state == "running" && study.history.failures_in_a_row() > 0) return state + "; " + failures_text(study);
  if (state != "interrupted") return state;
  if (stopped_by_failures(study)) return "stopped: " + failures_text(study);
  if (stopped_at_first_failure(study)) {
    return fmt::format("stopped: the program failed before any trial had reported an epoch: {}",
                       first_trouble(study.history));
  }
  if (study.spec().command.empty()) return "interrupted; run the program that created it again to continue";
  return "interrupted; continue with bapi resume " + study.shown();
}

// What to do about failures that have stopped the study; empty if none have.
std::string failure_advice(const StudyView& study) {
  if (study_state(study.history, study.controller) != "interrupted") return "";
  const bool at_first = stopped_at_first_failure(study);
  if (!at_first && !stopped_by_failures(study)) return "";
  if (study.spec().command.empty()) return "fix the training function, then run the program that tunes it again";
  return fmt::format("fix the program, then: bapi resume {}{}",
                     study.shown(),
                     at_first ? "; if the study file is wrong, correct it and run it" : "");
}

std::string state_lines(const StudyView& study) {
  const std::string advice = failure_advice(study);
  return labelled("state", state_text(study)) + (advice.empty() ? "" : labelled("", advice));
}

}  // namespace

std::string study_text(const StudyView& study) {
  return labelled("study", study.spec().name + " (" + study.spec().policy.name + ")") + state_lines(study) +
         best_lines(study) + budget_lines(study) + trials_line(study) + wishes_line(study) + earlier_lines(study) +
         command_line(study) + provenance_line(study) + place_lines(study);
}

std::string raise_hint(const StudyView& study) {
  if (study.history.finish_reason() == kDeadlineReached && study.spec().deadline) {
    return fmt::format("bapi resume {} --deadline {:.0f}s", study.shown(), 2.0 * *study.spec().deadline);
  }
  const BudgetSpec& unit = study.spec().budget;
  const Cost twice = 2.0 * study.history.budget().total();
  const std::string amount = unit.meter == Meter::accrued && unit.unit == "s"
                                 ? fmt::format("{:.0f}s", twice)
                                 : fmt::format("\"{} {}\"", short_number(twice), unit.unit);
  return fmt::format("bapi resume {} --budget {}", study.shown(), amount);
}

}  // namespace bapi
