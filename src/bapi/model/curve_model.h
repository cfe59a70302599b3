#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bapi/model/curve_surrogate.h"
#include "bapi/model/prognosis.h"

namespace bapi {

// What is believed about the learning curves of a study.
struct CurveModel {
  std::shared_ptr<const CurveSurrogate> surrogate;  // of standardised values
  ResponseScale scale;                              // of the values (to be maximised)
  double best = 0.0;                                // of what the curves have reached, standardised
  double range = 1.0;                               // of the observed values, bad ones clipped, standardised
  double fluctuation = 0;  // variance of a standardised value about the course of its curve, in the better curves
  std::map<CurveId, double> reached = {};  // what each curve is worth so far, standardised
  Worth worth = Worth::best_epoch;
  Epoch max_epoch = 1;
  bool warped = false;  // values count by their distance from the best

  // Deterministic given the stream. Requires at least one curve that has a value.
  static CurveModel fit(const std::vector<LearningCurve>& curves,
                        CurveEpochs epochs,
                        const CurveModelOptions& options,
                        Rng& rng);

  // What a curve that was trained to `now` will be worth at least, standardised; nothing if it can fall, or is new.
  std::optional<double> floor_of(CurveId curve, Epoch now) const;

  // Standard deviation of an observation, standardised, from that of the latent value at the epoch `then` of a curve
  // that was trained to `now`; so wide that it comes true as often as it says, see spread_factor.
  double measured_sd(double latent_sd, Epoch now, Epoch then) const;

  // In units of measured_sd, of a curve that was trained to `now`.
  ErrorLaw errors(Epoch now) const;
};

}  // namespace bapi
