#pragma once

#include "bapi/kernel/rows.h"
#include "bapi/math/types.h"

namespace bapi {

// A function of configurations and time that is known beforehand, and that data may follow with a weight of their own.
class Trend {
 public:
  virtual ~Trend() = default;

  virtual Vector values(const Rows& rows) const = 0;  // or derivatives in tau, for slope rows

  // Derivatives in the x of each row: d x q.
  virtual Matrix x_gradients(const Rows& rows) const = 0;

 protected:
  Trend() = default;
  Trend(const Trend&) = default;
  Trend(Trend&&) = default;
};

// Weights w >= 0 that minimise |target - trends w|^2 / 2 less their log prior (trend_prior.h), one for each column of
// `trends`. Strictly convex: coordinate descent ends at the only minimum, for a single column in one step.
Vector trend_weights(const Matrix& trends, const Vector& target, double sd);

}  // namespace bapi
