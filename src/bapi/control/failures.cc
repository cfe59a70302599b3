#include "bapi/control/failures.h"

#include <fmt/format.h>

#include <set>

namespace bapi {
namespace {

enum class Verdict { fails, is_retried, is_interrupted, ends_run };

// What is known when a fact happens: the log, and the facts before it.
class Court {
 public:
  Court(const History& history, const FailureRules& rules)
      : history_(history), rules_(rules), any_report_(history.incumbent().has_value()) {}

  void hear(const Measured& report) {
    any_report_ = true;
    reporters_.insert(report.trial);
  }

  Verdict verdict(const TrialFailed& failure) {
    const FailureCause cause = failure.cause;
    if (cause == FailureCause::other || cause == FailureCause::diverged) return Verdict::fails;
    if (cause == FailureCause::crashed && rules_.being_ended) return Verdict::is_interrupted;
    if (cause == FailureCause::not_run && !(any_report_ && program_depends_on_configuration())) {
      return Verdict::ends_run;
    }
    if (!any_report_ && !rules_.keep_going) return Verdict::ends_run;
    return cause == FailureCause::crashed && may_retry(failure.trial) ? Verdict::is_retried : Verdict::fails;
  }

 private:
  bool program_depends_on_configuration() const {
    const std::vector<std::string>& command = history_.spec().command;
    return !command.empty() && command.front().find("${") != std::string::npos;
  }

  bool may_retry(TrialId id) {
    const Trial& trial = history_.trial(id);
    const int since_last_epoch = reporters_.contains(id) ? 0 : trial.retries;
    const bool allowed = trial.segment && since_last_epoch < history_.spec().retries;
    return any_report_ && allowed && retried_.insert(id).second;
  }

  const History& history_;
  const FailureRules& rules_;
  bool any_report_;
  std::set<TrialId> reporters_;  // of this batch
  std::set<TrialId> retried_;    // the same
};

// The user has stopped a trial while it was trained: the log has its end already, the evaluator has not heard of it.
bool says_how_a_stopped_trial_ends(const History& history, const Event& fact) {
  const std::optional<TrialId> trial = trial_of(fact);
  if (!trial || history.trial(*trial).state != TrialState::stopped) return false;
  return std::holds_alternative<SegmentDone>(fact) || std::holds_alternative<TrialFailed>(fact) ||
         std::holds_alternative<Interrupted>(fact);
}

std::string advice(const StudySpec& spec, const TrialFailed& failure) {
  const std::string again = fmt::format(
      "Nothing is lost and no trial is marked as failed: run the study again and it continues with trial {}",
      index(failure.trial));
  if (failure.cause == FailureCause::not_run) {
    const std::string where = spec.cwd.empty() ? "" : fmt::format(" or cwd ({})", spec.cwd);
    return fmt::format(
        "{}. Fix the command{}, in the study file or on the command line. {}", failure.message, where, again);
  }
  return fmt::format(
      "the program failed before any trial had reported an epoch: {}\n\n"
      "Fix the program or the study file; everything in it may still be changed, and `bapi doctor` tries the program "
      "for a few epochs. {}. If only this configuration is at fault, add --keep-going",
      failure.message,
      again);
}

}  // namespace

Judgement judge(const History& history, std::span<const Event> facts, const FailureRules& rules) {
  Court court(history, rules);
  Judgement judgement;
  for (const Event& fact : facts) {
    if (says_how_a_stopped_trial_ends(history, fact)) continue;
    if (const auto* report = std::get_if<Measured>(&fact)) court.hear(*report);
    const auto* failure = std::get_if<TrialFailed>(&fact);
    if (!failure) {
      judgement.facts.push_back(fact);
      continue;
    }
    switch (court.verdict(*failure)) {
      case Verdict::fails:
        judgement.facts.push_back(fact);
        break;
      case Verdict::is_retried:
        judgement.facts.emplace_back(TrialRetried{.trial = failure->trial, .reason = failure->message});
        judgement.retried.push_back(failure->trial);
        break;
      case Verdict::ends_run:
        if (!judgement.ends_run) judgement.ends_run = advice(history.spec(), *failure);
        [[fallthrough]];
      case Verdict::is_interrupted:
        judgement.facts.emplace_back(Interrupted{.trial = failure->trial, .reason = failure->message});
        break;
    }
  }
  return judgement;
}

}  // namespace bapi
