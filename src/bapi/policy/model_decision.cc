#include "bapi/policy/model_decision.h"

namespace bapi {

Decision decide_with_models(const History& history,
                            const InitialDesign& design,
                            const ModelOptions& options,
                            const Rng& rng,
                            const ModelDecision& then) {
  if (design.unfinished(history)) return design.next(history);
  const Evidence evidence(history);
  if (evidence.curves().empty()) return history.open_segments() > 0 ? Decision(Wait{}) : design.next(history);
  Rng stream = rng.fork("models");
  return then(evidence, fit_models(evidence, options, stream));
}

}  // namespace bapi
