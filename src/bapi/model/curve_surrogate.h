#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/fit.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/model/curve_rows.h"

namespace bapi {

// The course of one curve, and what its continuation is worth.
class CurveContinuation : public CurvePosterior {
 public:
  // Log of the expected improvement of the value at `row` over `best`.
  virtual double log_improvement(const Rows& row, double best) const = 0;
};

// A Gaussian process with its constraint, for planners that draw several curves jointly.
struct GaussianCurves {
  const ExactGp& gp;
  const SlopeConstraint& slopes;
};

// A model of standardised learning curves. To add one: a file that implements this class and a function that fits it,
// and its lines in curve_surrogate.cc.
class CurveSurrogate : public Surrogate {
 public:
  // The same with more data: each row in turn at its expected value. Running trainings stand where the model expects
  // them, so that the search looks elsewhere meanwhile.
  virtual std::unique_ptr<CurveSurrogate> with_pending(const Rows& rows) const = 0;

  // Moments at the rows `then` if the observations `reached` at `now`, which are data, had this variance instead of the
  // model's noise.
  virtual Moments continuation(const Rows& now, const Vector& reached, double variance, const Rows& then) const = 0;

  // One curve. Refers to the model, which must outlive it.
  virtual std::unique_ptr<CurveContinuation> curve(const Vector& x, CurveId group) const = 0;

  // For plans of several runs. LogicError from a model that is not Gaussian.
  virtual GaussianCurves gaussian() const = 0;

  virtual const FitSummary& fit_summary() const = 0;
};

struct FittedCurves {
  std::unique_ptr<CurveSurrogate> surrogate;
  Response response;  // of its rows
};

using FitCurves = FittedCurves(std::vector<CurveSource> curves,
                               CurveEpochs epochs,
                               const CurveModelOptions& options,
                               Rng& rng);

struct CurveSurrogateKind {
  std::string_view name;  // in the policies' option `surrogate`
  std::string_view long_name;
  FitCurves* fit;
};

// All kinds, the usual one first. Policies offer the choice as soon as there is one.
const std::vector<CurveSurrogateKind>& curve_surrogates();

// LogicError for an unknown name.
const CurveSurrogateKind& curve_surrogate(std::string_view name);

}  // namespace bapi
