#include "bapi/policy/candidate_moments.h"

namespace bapi {

Expectations candidate_moments(const CurveModel& model,
                               const CurveSurrogate& curves,
                               const std::vector<Candidate>& candidates,
                               const std::vector<Epoch>& epochs,
                               double fluctuation) {
  std::vector<CurveAt> at;
  for (const Candidate& candidate : candidates) at.push_back(candidate.at());
  return expectations(model, curves, at, epochs, fluctuation);
}

}  // namespace bapi
