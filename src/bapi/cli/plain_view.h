#pragma once

#include <map>

#include "bapi/base/clock.h"
#include "bapi/cli/run_view.h"

namespace bapi {

// One line on standard error per decision, end of a segment and failure: for log files and pipes.
class PlainView : public RunView {
 public:
  PlainView(const StudySpec& spec, const Clock& clock) : spec_(spec), clock_(clock), start_(clock.now()) {}

  void update(const RunUpdate& update) override;

 private:
  void show(const Event& event);

  StudySpec spec_;
  const Clock& clock_;
  double start_;
  std::map<TrialId, Measurement> last_;  // of each trial, as reported
};

}  // namespace bapi
