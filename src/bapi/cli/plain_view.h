#pragma once

#include <map>

#include "bapi/base/clock.h"
#include "bapi/cli/progress.h"

namespace bapi {

// One line on standard error per decision, end of a segment and failure: for log files and pipes.
class PlainView : public Progress {
 public:
  PlainView(const StudySpec& spec, const Clock& clock) : spec_(spec), clock_(clock), start_(clock.now()) {}

  void event(const Event& event) override;
  void update(const Session&, const Evaluator&) override {}
  void finish() override {}

 private:
  const StudySpec& spec_;
  const Clock& clock_;
  double start_;
  std::map<TrialId, Measurement> last_;  // of each trial, as reported
};

}  // namespace bapi
