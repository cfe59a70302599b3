#pragma once

#include "bapi/kernel/rows.h"
#include "bapi/math/types.h"

namespace bapi {

// Latent f, without observation noise.
struct Moments {
  Vector mean;
  Vector variance;
};

struct JointMoments {
  Vector mean;
  Matrix covariance;
};

// Moments with their gradients in the x of each row: d x q.
struct MomentGradients {
  Moments moments;
  Matrix mean;
  Matrix variance;
};

// What scores, searches and policies ask of a model of values over configurations and time.
class Surrogate {
 public:
  virtual ~Surrogate() = default;

  // The data, and what an observation adds to the variance of f.
  virtual const Rows& rows() const = 0;
  virtual const Vector& y() const = 0;
  virtual double noise() const = 0;

  virtual Moments predict(const Rows& rows) const = 0;
  virtual JointMoments predict_joint(const Rows& rows) const = 0;
  virtual MomentGradients predict_with_gradients(const Rows& rows) const = 0;

 protected:
  Surrogate() = default;
  Surrogate(const Surrogate&) = default;
  Surrogate(Surrogate&&) = default;
  Surrogate& operator=(const Surrogate&) = default;
  Surrogate& operator=(Surrogate&&) = default;
};

// The course of one learning curve as a model sees it, with what is known of all curves besides the data.
class CurvePosterior {
 public:
  virtual ~CurvePosterior() = default;

  virtual Vector mean(const Rows& rows) const = 0;
  virtual Moments predict(const Rows& rows) const = 0;
  virtual double noise() const = 0;

  // Of what is assumed of the curve, given the data; 0 if nothing is. See kContradictionLogProbability.
  virtual double log_probability() const = 0;

 protected:
  CurvePosterior() = default;
  CurvePosterior(const CurvePosterior&) = default;
  CurvePosterior(CurvePosterior&&) = default;
};

}  // namespace bapi
