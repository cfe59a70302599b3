#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bapi/gp/exact_gp.h"
#include "bapi/gp/response.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/kernel/time_kernel.h"
#include "bapi/model/learning_curve.h"

namespace bapi {

// Which epochs of a curve become data.
enum class PointRule {
  rungs,   // the last epoch and, going back, every epoch halved: dense where the curve was decided upon
  greedy,  // up to three of largest variance, the last always among them
  last,    // the last epoch only
};

// What a curve has reached so far.
enum class CurveValue { best, last };

struct CurveModelOptions {
  std::string_view surrogate = "gp";  // see curve_surrogates()

  std::optional<TimeKind> time = TimeKind::exponential_decay;  // without one, the kind of largest evidence
  bool own_term = true;                                        // what is not smooth in x is a curve's own
  bool clip = true;  // values below median - 2 (best - median) are raised to it
  bool warp = true;  // values count by the log of their distance from the best, opened at their bounds
  ScoreBounds bounds = {};
  ResponseKind response = ResponseKind::running_maximum;
  CurveValue counts = CurveValue::best;
  PointRule points = PointRule::rungs;
  Monotonicity monotone = Monotonicity::on;  // of forecasts and stops

  // Functions that the curves may follow: what was learned elsewhere, see earlier_trend.h.
  Trends trends = {};

  // Beyond this many rows the curves with the worst values keep only their last point, then the worst are left out.
  int max_rows = 800;

  // Hyperparameters are fitted on at most this many rows, evenly taken by curve.
  int fit_rows = 150;
};

// A curve on its way into a model: its response, and which points of it are kept as data.
struct CurveSource {
  CurveId id = 0;
  Vector x;
  CurveResponse response;
  std::vector<std::size_t> kept = {};  // indices into the response

  double last_value() const { return response.values[response.values.size() - 1]; }
};

// The responses of all curves that have a value. A failed curve counts as far as it got; see FailureModel for the rest.
std::vector<CurveSource> curve_sources(const std::vector<LearningCurve>& curves,
                                       ResponseKind response,
                                       Epoch max_epoch);

// Keeps the points of a rule that needs no model; for PointRule::greedy those of PointRule::rungs, to begin with.
void keep_points(std::vector<CurveSource>& curves, PointRule rule);

// The worst curves give up their early points first, then their place.
void thin(std::vector<CurveSource>& curves, int max_rows);

struct CurveRows {
  Rows rows;
  Vector values;  // not yet clipped
};
CurveRows kept_rows(const std::vector<CurveSource>& curves, Epoch max_epoch);

// Warped, clipped and standardised values of the kept rows.
Response response_of(const std::vector<CurveSource>& curves, const Vector& values, const CurveModelOptions& options);

// Whole curves, evenly taken, up to `max_rows` rows: a curve that is cut would say the wrong thing about time.
std::vector<Eigen::Index> evenly_taken_curves(const Rows& rows, int max_rows);

}  // namespace bapi
