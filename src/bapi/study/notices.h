#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bapi/study/history.h"

namespace bapi {

// What people want to be told of a study while it runs: hooks and callbacks.
enum class NoticeKind { epoch, best, trial_end, study_end };

template <>
inline constexpr auto names<NoticeKind> = NameTable{Name{NoticeKind::epoch, "epoch"},
                                                    Name{NoticeKind::best, "best"},
                                                    Name{NoticeKind::trial_end, "trial_end"},
                                                    Name{NoticeKind::study_end, "study_end"}};

struct Notice {
  NoticeKind kind = NoticeKind::epoch;
  std::optional<TrialId> trial = {};  // none: of the study as a whole
  Epoch epoch = 0;                    // of the report, or the last of a trial that ended
  std::optional<double> value = {};   // of that epoch, in the user's direction
  OtherMetrics others = {};           // of that epoch
  std::string state = {};             // of a trial that ended: completed, stopped, failed
  std::string reason = {};            // why it failed, or why the study ended
};

// Turns the events of a study, one after the other, into notices. `history` is the study with the event.
class NoticeWriter {
 public:
  // What is in the history already is not news.
  explicit NoticeWriter(const History& history);

  std::vector<Notice> of(const Event& event, const History& history);

 private:
  struct Known {
    TrialId trial{};
    double value = 0.0;  // to be maximised
  };
  bool is_new_best(const History& history);  // since it was asked last

  std::optional<Known> best_;
  std::set<TrialId> ended_;
};

}  // namespace bapi
