#include "bapi/study/notices.h"

namespace bapi {
namespace {

bool has_ended(const Trial& trial) {
  return trial.state == TrialState::completed || trial.state == TrialState::stopped ||
         trial.state == TrialState::failed;
}

Notice end_of(const Trial& trial, const History& history) {
  Notice notice{.kind = NoticeKind::trial_end,
                .trial = trial.id,
                .epoch = trial.curve.last_epoch(),
                .state = std::string(to_string(trial.state)),
                .reason = trial.failure};
  if (!trial.curve.empty()) notice.value = history.in_user_units(trial.curve.reports().back().value);
  if (const auto others = trial.others.find(notice.epoch); others != trial.others.end()) notice.others = others->second;
  return notice;
}

Notice best_of(const History& history) {
  const Trial& trial = history.trial(*history.incumbent());
  Notice notice{.kind = NoticeKind::best,
                .trial = trial.id,
                .epoch = trial.curve.best_epoch(),
                .value = history.in_user_units(trial.curve.best())};
  if (const auto others = trial.others.find(notice.epoch); others != trial.others.end()) notice.others = others->second;
  return notice;
}

}  // namespace

NoticeWriter::NoticeWriter(const History& history) {
  is_new_best(history);
  for (const Trial& trial : history.trials()) {
    if (has_ended(trial)) ended_.insert(trial.id);
  }
}

bool NoticeWriter::is_new_best(const History& history) {
  if (!history.incumbent()) return false;
  const Known now = {.trial = *history.incumbent(), .value = history.trial(*history.incumbent()).curve.best()};
  const bool is_new = !best_ || now.trial != best_->trial || now.value > best_->value;
  best_ = now;
  return is_new;
}

std::vector<Notice> NoticeWriter::of(const Event& event, const History& history) {
  std::vector<Notice> notices;
  if (const auto* measured = std::get_if<Measured>(&event)) {
    const Measurement& m = measured->measurement;
    Notice notice{.kind = NoticeKind::epoch, .trial = measured->trial, .epoch = m.epoch, .value = m.value};
    if (measured->others) notice.others = *measured->others;
    notices.push_back(notice);
  }
  if (is_new_best(history)) notices.push_back(best_of(history));
  if (const std::optional<TrialId> id = trial_of(event)) {
    const Trial& trial = history.trial(*id);
    if (!has_ended(trial)) {
      ended_.erase(*id);
    } else if (ended_.insert(*id).second) {
      notices.push_back(end_of(trial, history));
    }
  }
  if (const auto* finished = std::get_if<StudyFinished>(&event)) {
    notices.push_back({.kind = NoticeKind::study_end, .reason = finished->reason});
  }
  return notices;
}

}  // namespace bapi
