#include "bapi/studies/best_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/file_tree.h"
#include "bapi/process/command.h"
#include "bapi/report/text.h"
#include "bapi/store/snapshot.h"
#include "bapi/study/codec.h"
#include "bapi/study/progress.h"

namespace bapi {

namespace fs = std::filesystem;

namespace {

std::string missing_text(const TrialDir& dir, Epoch epoch) {
  const std::optional<MissedSnapshot> missed = missed_snapshot(dir);
  const std::string why = missed && missed->epoch == epoch ? fmt::format(" ({})", missed->reason) : "";
  return fmt::format("the checkpoint of epoch {} was not kept{}", epoch, why);
}

ModelFiles kept_model(const Snapshot& snapshot, const TrialDir& dir, Epoch best_epoch, const Metric& metric) {
  const SnapshotLabel& label = snapshot.label;
  ModelFiles model{.path = snapshot.files.string(), .epoch = label.epoch, .note = label.remark};
  if (label.epoch == best_epoch) return model;
  model.note = fmt::format("{}; this is the one of epoch {}, {} {}{}",
                           missing_text(dir, best_epoch),
                           label.epoch,
                           metric.name,
                           short_number(label.value),
                           label.remark.empty() ? "" : "; " + label.remark);
  return model;
}

std::string costs_text(const StudyView& study, TrialId trial) {
  const BudgetSpec& unit = study.spec().budget;
  return fmt::format("{}; the whole study {}",
                     short_cost(study.history.trial(trial).spent(), unit),
                     short_cost(study.history.budget().spent(), unit));
}

// card.json for people.
std::string card_text(const StudyView& study, const Fields& card) {
  const auto at = [&](const char* name) -> const Cell& {
    for (const auto& [key, value] : card) {
      if (key == name) return value;
    }
    throw LogicError(fmt::format("the card has no {}", name));
  };
  std::string out = fmt::format("# {}: {} {} at epoch {}\n\n",
                                at("study").get<std::string>(),
                                at("metric").get<std::string>(),
                                short_number(at("value").get<double>()),
                                at("epoch").get<Epoch>());
  if (!at("checkpoint_note").is_null()) out += at("checkpoint_note").get<std::string>() + "\n\n";
  out += "| | |\n| --- | --- |\n";
  for (const auto& [key, value] : card) {
    if (key == "checkpoint_note" || value.is_null()) continue;
    std::string label = key;
    std::replace(label.begin(), label.end(), '_', ' ');
    std::string text = to_text(value);
    if (key == "cost") text = costs_text(study, best(study.history)->trial);
    if (value.is_array()) text = fmt::format("`{}`", fmt::join(value.get<std::vector<std::string>>(), " "));
    out += fmt::format("| {} | {} |\n", label, text);
  }
  return out +
         "\nFiles: `model/` (what the training program saved), `config.json` (its parameters), `card.json` (this "
         "table).\n";
}

void require_new_or_empty(const fs::path& directory) {
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(directory, failed);
  if (!fs::exists(status)) return;
  require(fs::is_directory(status), fmt::format("--copy {}: it exists and is not a directory", directory.string()));
  require(fs::is_empty(directory),
          fmt::format("--copy {}: the directory is not empty; name a new one", directory.string()));
}

}  // namespace

ModelFiles best_model(const StudyDir& dir, const History& history) {
  const std::optional<Best> found = best(history);
  if (!found) return {};
  const TrialDir trial = dir.trial(found->trial);
  if (const std::optional<Snapshot> snapshot = newest_snapshot(trial)) {
    return kept_model(*snapshot, trial, found->epoch, history.spec().metric);
  }
  if (!holds_something(trial.checkpoint())) return {.note = "there is no checkpoint: the program saved none"};
  return {.path = trial.checkpoint().string(),
          .note = fmt::format("{}; these are the files that trial {} saved last, up to epoch {}",
                              missing_text(trial, found->epoch),
                              index(found->trial),
                              history.trial(found->trial).curve.last_epoch())};
}

Fields model_card(const StudyView& study) {
  const std::optional<Best> found = best(study.history);
  require(found.has_value(), fmt::format("no trial of {} has reported yet", study.spec().name));
  const StudySpec& spec = study.spec();
  const ModelFiles model = best_model(study.dir, study.history);
  Fields card = {{"study", spec.name},
                 {"metric", spec.metric.name},
                 {"goal", word(spec.metric.goal)},
                 {"value", found->value},
                 {"trial", index(found->trial)},
                 {"epoch", found->epoch},
                 {"checkpoint_epoch", model.epoch ? Cell(*model.epoch) : Cell()},
                 {"checkpoint_note", model.note.empty() ? Cell() : Cell(model.note)},
                 {"parameters", fields_of(found->config, spec.space)},
                 {"cost",
                  Fields{{"trial", study.history.trial(found->trial).spent()},
                         {"study", study.history.budget().spent()},
                         {"unit", spec.budget.unit}}},
                 {"seed", spec.seed},
                 {"trial_seed", trial_seed(spec, found->trial)},
                 {"policy", spec.policy.name},
                 {"command", spec.command.empty() ? Cell() : Cell(spec.command)}};
  if (found->trainings < 2) return card;
  card.emplace_back("standard_error", *found->standard_error);
  card.emplace_back("trainings", found->trainings);
  card.emplace_back("trial_value", found->trial_value);
  return card;
}

void copy_best_model(const StudyView& study, const fs::path& to) {
  const Fields card = model_card(study);
  const ModelFiles model = best_model(study.dir, study.history);
  require(!model.path.empty(), fmt::format("--copy: {} has no model to copy: {}", study.spec().name, model.note));
  require_new_or_empty(to);
  fs::path beside = to.lexically_normal();
  if (!beside.has_filename()) beside = beside.parent_path();
  if (beside.has_parent_path()) make_directories(beside.parent_path());
  const fs::path target = beside;
  beside += fmt::format(".{}.part", ::getpid());
  try {
    make_directories(beside);
    if (const CopySummary copy = copy_tree(model.path, beside / "model"); !copy.failure.empty()) {
      throw StoreError(copy.failure);
    }
    const Best found = best(study.history).value();
    replace_file(beside / "config.json", encode(found.config, study.spec().space) + "\n");
    replace_file(beside / "card.json", render(card, Format::json));
    replace_file(beside / "card.md", card_text(study, card));
    std::error_code failed;
    fs::rename(beside, target, failed);
    if (failed) fail_at("create", target, failed.value());
  } catch (...) {
    remove_tree(beside);
    throw;
  }
}

}  // namespace bapi
