#pragma once

#include <vector>

#include "bapi/model/curve_model.h"
#include "bapi/model/prognosis.h"

namespace bapi {

// What is expected of several curves at one epoch each, standardised.
struct Expectations {
  Vector mean;
  Vector latent_sd;  // of the course
  Vector sd;         // of what will be measured, so wide that it comes true as often as it says
};

// `curves` is the model's surrogate or one with pending rows. A curve that has values goes on from its last one, which
// is known with the variance `reached_variance`; no less than the model's noise leaves it at that.
//
// What a model of all curves cannot explain counts as its noise, and the noise is mostly misfit: a curve that has been
// flat for long would keep a chance to end where its neighbours are. So a paused trial goes on from where it is, as far
// as its curve does not jump about.
Expectations expectations(const CurveModel& model,
                          const CurveSurrogate& curves,
                          const std::vector<CurveAt>& at,
                          const std::vector<Epoch>& epochs,
                          double reached_variance);

// The law of the i-th of them.
Prognosis law_of(const CurveModel& model, const Expectations& expected, Eigen::Index i, const CurveAt& at, Epoch epoch);

// The law of one curve at `epochs`, ascending, all after what it was trained for.
Prognosis prognosis_of(const CurveModel& model,
                       const CurveSurrogate& curves,
                       const CurveAt& at,
                       const std::vector<Epoch>& epochs,
                       double reached_variance);

}  // namespace bapi
