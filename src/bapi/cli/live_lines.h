#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bapi/cli/terminal.h"
#include "bapi/study/history.h"

namespace bapi {

// A decision or another event that is worth a line.
struct LiveEntry {
  double after = 0.0;  // seconds since the view began
  std::optional<TrialId> trial = {};
  std::vector<std::string> forms = {};        // one text in several lengths, the longest first
  std::vector<std::string> brief_forms = {};  // the same in fewer words; empty if there are no fewer
};

// An event as an entry of the live view; nullopt if it is not worth a line.
std::optional<LiveEntry> live_entry(const Event& event, const StudySpec& spec, double after);

// What the live view shows, apart from the history.
struct LiveState {
  double elapsed = 0.0;                     // seconds since the view began
  Cost spent = 0.0;                         // with what has accrued but is in no fact yet
  std::optional<double> seconds_left = {};  // until the budget is spent or the deadline reached; unknown at first
  std::vector<LiveEntry> recent = {};       // newest last
};

// The lines of the live view, none wider than `size.columns` - 1, fewer than `size.rows`: progress, the best
// configuration in full, running trials and the last decisions; on wide screens the best and the failed trials at their
// side, on tall ones below. Text that does not fit is shortened word by word, numbers last. Where there is too little
// room for all running trials, a line says how many are not shown. Colour is in ANSI sequences that take no columns.
std::vector<std::string> live_lines(const History& history,
                                    const LiveState& state,
                                    TerminalSize size,
                                    TerminalStyle style);

// Columns of a painted line: colour sequences (ESC [ ... m) take none.
std::size_t visible_width(const std::string& line);

}  // namespace bapi
