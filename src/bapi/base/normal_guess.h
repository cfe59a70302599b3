#pragma once

namespace bapi {

// Acklam's rational approximation of the standard normal quantile, right to 1e-9; who needs more digits adds a step of
// Newton's or Halley's method. Probabilities below kNormalTailStart or above 1 - kNormalTailStart are tails.
inline constexpr double kNormalTailStart = 0.02425;

// z with P(Z < z) = 1/2 + `offset`, between the tails.
inline double middle_normal_guess(double offset) {
  const double r = offset * offset;
  const double top = ((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
                       1.383577518672690e+02) *
                          r -
                      3.066479806614716e+01) *
                         r +
                     2.506628277459239e+00;
  const double bottom = ((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
                          6.680131188771972e+01) *
                             r -
                         1.328068155288572e+01) *
                            r +
                        1.0;
  return offset * top / bottom;
}

// z < 0 with P(Z < z) = p, in the lower tail, from t = sqrt(-2 log p) up to 20.
inline double lower_tail_normal_guess(double t) {
  const double top = ((((-7.784894002430293e-03 * t - 3.223964580411365e-01) * t - 2.400758277161838e+00) * t -
                       2.549732539343734e+00) *
                          t +
                      4.374664141464968e+00) *
                         t +
                     2.938163982698783e+00;
  const double bottom =
      (((7.784695709041462e-03 * t + 3.224671290700398e-01) * t + 2.445134137142996e+00) * t + 3.754408661907416e+00) *
          t +
      1.0;
  return top / bottom;
}

}  // namespace bapi
