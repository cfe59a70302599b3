#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/cli/run_view.h"
#include "bapi/cli/terminal.h"

namespace bapi {

// What the live view shows, apart from the history.
struct LiveState {
  double elapsed = 0.0;                     // seconds since this run began
  Cost spent = 0.0;                         // with what has accrued but is in no fact yet
  std::optional<double> seconds_left = {};  // until the budget is spent or the deadline reached; unknown at first
  std::vector<std::string> recent = {};     // the last decisions and failures, newest last
};

// The lines of the live view, none wider than `size.columns` - 1, fewer than `size.rows`. Where there is too little
// room for all running trials, the last line of them says how many are not shown. `color` wraps parts in ANSI sequences
// that take no columns.
std::vector<std::string> live_lines(const History& history,
                                    const LiveState& state,
                                    TerminalSize size,
                                    TerminalStyle style);

// Redraws `live_lines` in place on standard error, at most five times a second.
class LiveView : public RunView {
 public:
  LiveView(const StudySpec& spec, const Clock& clock, TerminalStyle style);
  ~LiveView() override;  // clears the lines and gives the cursor back

  void update(const RunUpdate& update) override;

 private:
  void remember(const Event& event);
  std::optional<double> seconds_left(const Session& session, const Evaluator& evaluator) const;
  void draw(const std::vector<std::string>& lines, std::size_t columns);

  const StudySpec spec_;
  const Clock& clock_;
  const TerminalStyle style_;
  const double start_;
  std::optional<Cost> spent_at_start_;
  double last_draw_ = 0.0;
  std::deque<std::string> recent_;
  std::vector<std::size_t> drawn_;  // widths of the lines on the screen
  std::size_t columns_ = 0;         // of the terminal when they were drawn
};

}  // namespace bapi
