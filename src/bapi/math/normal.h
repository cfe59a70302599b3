#pragma once

// The standard normal distribution, in log space where numbers vanish. phi is the density, Phi the distribution
// function, Q = 1 - Phi the upper tail. Everything is accurate to about 1e-14 relative (to the logarithm where the
// function is one), also in the far tails; no function returns NaN for arguments that are not NaN.
namespace bapi {

inline constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

double normal_pdf(double z);
double log_normal_pdf(double z);
double normal_cdf(double z);   // Phi(z)
double normal_tail(double z);  // Q(z)
double log_normal_cdf(double z);
double log_normal_tail(double z);

// phi and Phi at the price of one of them.
struct NormalPoint {
  double pdf = 0.0;
  double cdf = 0.0;
};
NormalPoint normal_pdf_and_cdf(double z);

// Scaled complementary error function exp(x^2) erfc(x); +inf where it overflows (x < -26.6).
double erfcx(double x);

// phi(z) / Q(z): the negative slope of log Q. Grows like z on the right, vanishes on the left.
double normal_hazard(double z);

// log Q and hazard at the price of one of them.
struct NormalTail {
  double log_tail = 0.0;
  double hazard = 0.0;
};
NormalTail normal_tail_and_hazard(double z);

// z with Phi(z) = p; -inf at 0, +inf at 1.
double normal_quantile(double p);

// z with log Q(z) = log_q, for log_q <= 0.
double normal_tail_quantile(double log_q);

// The draw of Z given Z > bound that u in (0, 1) stands for, P(Z < z | Z > bound) = u, with log Q and hazard of the
// bound.
struct NormalTailDraw {
  double log_tail = 0.0;
  double hazard = 0.0;
  double z = 0.0;
};
NormalTailDraw normal_tail_draw(double bound, double u);

// log P(lower < Z < upper); -inf for an empty interval. The ends may be infinite.
double log_normal_interval(double lower, double upper);

// z with P(lower < Z < z) = u P(lower < Z < upper), u in [0, 1]; always within [lower, upper].
double truncated_normal_quantile(double lower, double upper, double u);

// Mean and variance of Z given Z > lower.
struct TailMoments {
  double mean = 0.0;
  double variance = 0.0;
};
TailMoments normal_tail_moments(double lower);
TailMoments normal_tail_moments(double lower, double hazard);  // where the hazard is known

// Moments of Z given lower < Z < upper.
TailMoments normal_interval_moments(double lower, double upper);

// log(phi(z) + z Phi(z)): the expected improvement of a normal variable, in units of its standard deviation.
double log_normal_improvement(double z);

}  // namespace bapi
