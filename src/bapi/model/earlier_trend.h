#pragma once

#include <memory>
#include <vector>

#include "bapi/gp/trend.h"
#include "bapi/model/learning_curve.h"

namespace bapi {

// Curves of an earlier study in the coordinates of the new one.
struct EarlierCurves {
  std::vector<LearningCurve> curves = {};
  std::vector<bool> known = {};  // of each coordinate, whether the earlier study says anything about it
};

// What an earlier study expects of a configuration, as a trend of the new study's curves.
//
// Let g(x, t) be the expected value by a model of the earlier curves, on their own scale (warped by their distance from
// their best, clipped, mean 0 and variance 1), less its mean over the earlier configurations at the same epoch: all
// curves rise, and that these do says nothing about which configuration is good. The model of the new study, on its own
// scale, is
//
//   y(x, t) = m + w g(x, t) + f(x, t) + noise,   w >= 0,   w ~ exp(-r w - w^2 / (2 s^2)),
//
// with f the Gaussian process that it has anyway. A study of the same problem has w near 1, and f is left with what
// differs; an unrelated one explains nothing, its w goes to 0, and the model is the one without it. w is found together
// with the hyperparameters of f, at the largest posterior density (see PriorMean::trends).
//
// It is the autoregressive model of two related codes (Kennedy and O'Hagan, 2000), conditioned on the earlier data
// first, with the uncertainty of g left to f: g falls back to a constant where the earlier study has seen nothing, so
// there it says nothing. Only the mean changes, so that a decision costs what it costs without, and everything that
// asks for a prior mean is right.
//
// Coordinates that the earlier study does not know do not change g. At a configuration that it has trained, g has what
// is this configuration's own as well. Fits a model: some 10 ms. Deterministic. Requires at least one value.
std::shared_ptr<const Trend> earlier_trend(const EarlierCurves& earlier, CurveEpochs epochs);

}  // namespace bapi
