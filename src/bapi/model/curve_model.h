#pragma once

#include <memory>
#include <vector>

#include "bapi/model/curve_surrogate.h"

namespace bapi {

// What is believed about the learning curves of a study.
struct CurveModel {
  std::shared_ptr<const CurveSurrogate> surrogate;  // of standardised values
  ResponseScale scale;                              // of the values (to be maximised)
  double best = 0.0;                                // of what the curves have reached, standardised
  double range = 1.0;                               // of the observed values, bad ones clipped, standardised
  double fluctuation = 0;  // variance of a standardised value about the course of its curve, in the better curves

  // Deterministic given the stream. Requires at least one curve that has a value.
  static CurveModel fit(const std::vector<LearningCurve>& curves,
                        CurveEpochs epochs,
                        const CurveModelOptions& options,
                        Rng& rng);

  // Standard deviation of an observation, standardised, from that of the latent value.
  double measured_sd(double latent_sd) const;
};

}  // namespace bapi
