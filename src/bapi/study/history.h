#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bapi/study/budget.h"
#include "bapi/study/direction.h"
#include "bapi/study/event.h"
#include "bapi/study/spec.h"
#include "bapi/study/trial.h"

namespace bapi {

// The state of a study: a fold over its events.
//
// Curves inside are to be maximised; the user's direction is applied here, on the way in, and undone by
// `in_user_units`.
class History {
 public:
  explicit History(StudySpec spec);

  // Why an event cannot follow, or a batch of facts, one after the other; nullopt if it can. This is the only rule for
  // what a log may hold: ask it before anything is written.
  std::optional<std::string> objection(const Event& event) const;
  std::optional<std::string> objection(std::span<const Event> facts) const;

  void apply(const Event& event);  // LogicError if there is an objection

  const StudySpec& spec() const { return spec_; }
  std::span<const Trial> trials() const { return trials_; }
  const Trial& trial(TrialId id) const;  // LogicError if there is none
  Budget budget() const;
  // The first trial with the best value so far; once configurations were trained more than once, the best training of
  // the one with the best mean (repeats.h).
  std::optional<TrialId> incumbent() const { return incumbent_; }
  int decisions() const { return decisions_; }                          // how many decisions the log holds
  int open_segments() const { return static_cast<int>(open_.size()); }  // running trials and interrupted ones
  std::span<const TrialId> open_trials() const { return open_; }        // the same, in their order
  bool finished() const { return finished_; }
  const std::string& finish_reason() const { return finish_reason_; }
  // Failed trials since a trial last got further than they did: than the earliest epoch in which one of them failed.
  int failures_in_a_row() const { return failures_in_a_row_; }

  // Configurations that were asked for, in their order; trials try them one after the other. `next_wish` is the number
  // of the first that no trial has tried, if there is one.
  std::span<const ConfigEnqueued> wishes() const { return wishes_; }
  std::optional<int> next_wish() const;

  // Trials whose charge emptied the budget, or came after that; none once the budget has been changed.
  const std::set<TrialId>& overdrawn() const { return overdrawn_; }

  // Trainings of configurations that were trained before, in their order. From the first one on, until the budget is
  // changed, nothing else is begun.
  std::span<const TrialId> repeats() const { return repeats_; }
  bool repeating() const { return repeating_; }
  int planned_finalists() const;

  std::optional<Cost> mean_epoch_cost() const;  // of all epochs that were reported; nullopt if none was

  double in_user_units(double value) const { return oriented(value, spec_.metric.goal); }

  // Epochs that must be paid for to bring a trial to `until`: only the further ones, or all of them again when the
  // program keeps no checkpoints.
  Epoch epochs_to_pay(const Trial& trial, Epoch until) const;

 private:
  bool has(TrialId id) const { return index(id) >= 0 && index(id) < std::ssize(trials_); }
  Trial& at(TrialId id);
  Trial& add_trial(const TrialStarted& decision);
  void open_segment(Trial& trial, Epoch until, Cost expected);
  void move_on(Trial& trial, const TrialStage& after);
  void charge(Trial& trial, Cost cost);
  void retry(Trial& trial, Epoch until);
  void measure(const Measured& fact);
  void choose_incumbent(const Trial& changed);
  Cost full_training_cost() const;

  StudySpec spec_;
  std::vector<Trial> trials_;
  Cost total_;
  Cost spent_ = 0.0;
  std::set<TrialId> overdrawn_;
  std::optional<TrialId> incumbent_;
  std::vector<TrialId> repeats_;
  bool repeating_ = false;
  Cost training_cost_ = 0.0;  // of all reported epochs
  std::size_t reported_ = 0;  // epochs
  int decisions_ = 0;
  std::vector<TrialId> open_;  // trials with an open segment, in their order: few, however many trials there are
  bool finished_ = false;
  std::string finish_reason_;
  int failures_in_a_row_ = 0;
  Epoch failed_after_ = 0;  // the fewest epochs that one of them has
  std::vector<ConfigEnqueued> wishes_;
  int wishes_tried_ = 0;
};

}  // namespace bapi
