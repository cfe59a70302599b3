#pragma once

#include <string>

#include "bapi/base/clock.h"
#include "bapi/cli/terminal.h"
#include "bapi/compare/run_comparison.h"

namespace bapi {

// "120 of 480 runs, 3m12s left".
std::string progress_text(const ComparisonProgress& progress);

// The same behind a bar and before the last finished run, as far as there is room in `columns` columns.
std::string progress_line(const ComparisonProgress& progress, std::size_t columns);

// Shows the progress of a comparison on standard error: on a terminal one line that is redrawn, elsewhere a plain line
// about every ten seconds.
class ComparisonView {
 public:
  ComparisonView(const Clock& clock, TerminalStyle style) : clock_(clock), style_(style), redraw_(can_redraw()) {}
  ~ComparisonView();

  void update(const ComparisonProgress& progress);

 private:
  const Clock& clock_;
  TerminalStyle style_;
  bool redraw_;
  bool drawn_ = false;
  double last_ = 0.0;
};

}  // namespace bapi
