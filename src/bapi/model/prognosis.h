#pragma once

#include <limits>
#include <vector>

#include "bapi/base/units.h"
#include "bapi/gp/response.h"
#include "bapi/math/error_law.h"
#include "bapi/math/types.h"

namespace bapi {

// Whether what a curve is worth can fall with further epochs.
enum class Worth {
  best_epoch,  // it cannot: the best epoch counts
  last_epoch,
};

// What is to be expected of one learning curve, as one law for all its epochs: the forecast behind every score, plan
// and picture. Values are scores, to be maximised, in the unit of the metric.
//
// One standard normal Z stands for how well the curve does; given Z its course is known. Modelled is
// g_t(Z) = mean_t + sd_t e(Z) on the standardised scale, with the law e of errors, and where the best epoch counts the
// value by epoch t is
//
//   undo(max(reached, min over t' >= t of g_t'(Z))),
//
// so that no forecast is below what was reached, none gets worse with more epochs, none leaves the bounds of the scale,
// and that of the last epoch is the model's own.
class Prognosis {
 public:
  struct Course {
    std::vector<Epoch> epochs;  // ascending
    Vector mean;                // of what is modelled, standardised
    Vector sd;                  // of what will be measured, standardised
    double reached = 0.0;       // standardised; -infinity: nothing yet
    ErrorLaw errors = {};       // in units of sd
  };

  Prognosis(Course course, const ResponseScale& scale, Worth worth);

  Eigen::Index size() const { return course_.mean.size(); }
  const std::vector<Epoch>& epochs() const { return course_.epochs; }
  Eigen::Index last() const { return size() - 1; }
  const Vector& modelled_means() const { return course_.mean; }  // standardised
  double reached() const {
    return worth_ == Worth::best_epoch ? course_.reached : -std::numeric_limits<double>::infinity();
  }

  // Means are averages over the middles of so many equally likely parts of the law: the same ones for every epoch, so
  // that a mean grows where its quantiles do.
  static constexpr int kParts = 500;

  // The value at the i-th epoch if the curve does as well as `z`; it grows with z, and with i where the best epoch
  // counts.
  double value(Eigen::Index i, double z) const;

  double quantile(Eigen::Index i, double share) const;
  double mean(Eigen::Index i) const;
  double chance_above(Eigen::Index i, double score) const;

  // By how much the value is expected to exceed `score`, counted where it does.
  double expected_gain(Eigen::Index i, double score) const;

  // That the value does not rise above what was reached.
  double chance_to_stay(Eigen::Index i) const;

  // The same for all epochs at once: the course of a curve that does as well as `z`, and the mean of all courses.
  Vector course(double z) const;
  Vector quantile_course(double share) const;
  Vector mean_course() const;

 private:
  double modelled(Eigen::Index i, double z) const;  // standardised
  double z_of(Eigen::Index i, double standardised) const;

  Course course_;
  ResponseScale scale_;
  Worth worth_;
};

}  // namespace bapi
