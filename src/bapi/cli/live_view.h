#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/cli/live_lines.h"
#include "bapi/cli/run_view.h"
#include "bapi/cli/screen_lines.h"

namespace bapi {

// Redraws `live_lines` in place on standard error, at most five times a second.
class LiveView : public RunView {
 public:
  LiveView(const StudySpec& spec, const Clock& clock, TerminalStyle style);
  void update(const RunUpdate& update) override;

 private:
  void remember(const Event& event);
  std::optional<double> seconds_left(const Session& session, const Evaluator& evaluator) const;

  const StudySpec spec_;
  const Clock& clock_;
  const TerminalStyle style_;
  const double start_;
  std::optional<Cost> spent_at_start_;
  double last_draw_ = 0.0;
  std::deque<LiveEntry> recent_;
  ScreenLines screen_;  // cleared at the end: the result that follows says everything once more
};

}  // namespace bapi
