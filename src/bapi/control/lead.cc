#include "bapi/control/lead.h"

#include "bapi/base/error.h"

namespace bapi {
namespace {

StudyPhase phase_after(TuneEnd end, bool paused) {
  switch (end) {
    case TuneEnd::finished:
      return StudyPhase::finished;
    case TuneEnd::interrupted:
      return paused ? StudyPhase::paused : StudyPhase::open;
    case TuneEnd::too_many_failures:
    case TuneEnd::program_failed:
      return StudyPhase::paused;
  }
  throw LogicError("phase_after: unknown end");
}

}  // namespace

TuneSummary lead(Session& session, ClusterEvaluator& evaluator, const Clock& clock, const TuneOptions& options) {
  bool paused = false;
  TuneOptions attended = options;
  if (options.attend) {
    attended.attend = [&] {
      Attended asked = options.attend();
      paused = paused || asked.pause;
      return asked;
    };
  }
  const TuneSummary summary = tune(session, evaluator, clock, attended);
  evaluator.announce(phase_after(summary.end, paused));
  return summary;
}

}  // namespace bapi
