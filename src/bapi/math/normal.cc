#include "bapi/math/normal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "bapi/base/normal_guess.h"
#include "bapi/math/constants.h"

namespace bapi {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
constexpr double kInvSqrtPi = 0.56418958354775628695;
constexpr double kDensityAtZero = 0.5 * kSqrtTwoOverPi;

// erfcx for x >= 0 as a function of t = 4 / (4 + x) in (0, 1]: smooth up to both ends, so that a table of short
// polynomials gives full precision at the price of one division.
class ErfcxTable {
 public:
  ErfcxTable() {
    for (int cell = 0; cell < kCells; ++cell) fill(cell);
  }

  double operator()(double x) const {
    const double t = 4.0 / (4.0 + x) * kCells;
    const int cell = std::min(static_cast<int>(t), kCells - 1);
    const double s = 2.0 * (t - cell) - 1.0;
    const std::array<double, kTerms>& c = coefficients_[static_cast<std::size_t>(cell)];
    double value = c[kTerms - 1];
    for (int i = kTerms - 2; i >= 0; --i) value = value * s + c[static_cast<std::size_t>(i)];
    return value;
  }

 private:
  static constexpr int kCells = 64;
  static constexpr int kTerms = 9;

  // Beyond 3 the continued fraction, evaluated from its 120th term, has converged to long double precision.
  static long double reference(long double x) {
    if (x < 3.0L) return std::exp(x * x) * std::erfc(x);
    long double tail = x;
    for (int i = 120; i >= 1; --i) tail = x + 0.5L * static_cast<long double>(i) / tail;
    return 1.0L / (std::sqrt(std::numbers::pi_v<long double>) * tail);
  }

  // Interpolates at the Chebyshev nodes of the cell; the divided differences are expanded into powers of s.
  void fill(int cell) {
    std::array<long double, kTerms> node{};
    std::array<long double, kTerms> divided{};
    for (int i = 0; i < kTerms; ++i) {
      const auto k = static_cast<std::size_t>(i);
      node[k] = std::cos(std::numbers::pi_v<long double> * (2.0L * i + 1.0L) / (2.0L * kTerms));
      const long double t = (static_cast<long double>(cell) + 0.5L * (node[k] + 1.0L)) / kCells;
      divided[k] = t > 0.0L ? reference(4.0L / t - 4.0L) : 0.0L;
    }
    for (std::size_t order = 1; order < kTerms; ++order) {
      for (std::size_t i = kTerms - 1; i >= order; --i) {
        divided[i] = (divided[i] - divided[i - 1]) / (node[i] - node[i - order]);
      }
    }
    std::array<long double, kTerms> powers{};
    for (std::size_t i = kTerms; i-- > 0;) {
      for (std::size_t j = kTerms - 1; j >= 1; --j) powers[j] = powers[j - 1] - node[i] * powers[j];
      powers[0] = divided[i] - node[i] * powers[0];
    }
    for (std::size_t i = 0; i < kTerms; ++i) coefficients_[static_cast<std::size_t>(cell)][i] = double(powers[i]);
  }

  std::array<std::array<double, kTerms>, kCells> coefficients_{};
};

double erfcx_right(double x) {
  // Past this the first terms of the asymptotic series are exact in double precision, and t would leave the table's
  // relative accuracy.
  constexpr double kAsymptoticStart = 50.0;
  if (x > kAsymptoticStart) {
    const double inverse = 1.0 / (x * x);
    return kInvSqrtPi / x * (1.0 - 0.5 * inverse * (1.0 - 1.5 * inverse * (1.0 - 2.5 * inverse)));
  }
  static const ErfcxTable table;
  return table(x);
}

// z with log Q(z) close to log_q <= log(kNormalTailStart); beyond the range of the guess the asymptotic expansion.
double tail_quantile_guess(double log_q) {
  const double t = std::sqrt(-2.0 * log_q);
  if (t > 20.0) return t - (std::log(t) + kLogSqrtTwoPi) / t;
  return -lower_tail_normal_guess(t);
}

// z >= 0 with Q(z) = q, for q in [1e-100, 1 / 2]: one Newton step from the guess doubles its digits.
double upper_quantile(double q) {
  const double z = q > kNormalTailStart ? middle_normal_guess(0.5 - q) : tail_quantile_guess(std::log(q));
  const double scaled = erfcx_right(std::max(0.0, z) * kSqrtHalf);
  return std::max(0.0, z + 0.5 * scaled / kDensityAtZero - q / (kDensityAtZero * std::exp(-0.5 * z * z)));
}

// Narrow interval around m, relative to the scale on which phi changes there: the Taylor series about the middle keeps
// the digits that a difference of two tails would lose.
double log_narrow_interval(double lower, double upper) {
  const double m = 0.5 * (lower + upper);
  const double w = upper - lower;
  return log_normal_pdf(m) + std::log(w) + std::log1p((m * m - 1.0) * w * w / 24.0);
}

// lower >= 0.
double log_right_interval(double lower, double upper) {
  const double from = log_normal_tail(lower);
  if (upper == kInfinity) return from;
  return from + std::log1p(-std::exp(log_normal_tail(upper) - from));
}

}  // namespace

double normal_pdf(double z) { return std::exp(log_normal_pdf(z)); }

double log_normal_pdf(double z) { return -0.5 * z * z - kLogSqrtTwoPi; }

double normal_tail(double z) {
  if (z < 0.0) return 1.0 - normal_tail(-z);
  return 0.5 * std::exp(-0.5 * z * z) * erfcx_right(std::min(z, 1e300) * kSqrtHalf);
}

double normal_cdf(double z) { return normal_tail(-z); }

NormalPoint normal_pdf_and_cdf(double z) {
  const double density = std::exp(-0.5 * z * z);
  const double outer = 0.5 * density * erfcx_right(std::min(std::abs(z), 1e300) * kSqrtHalf);
  return {kDensityAtZero * density, z < 0.0 ? outer : 1.0 - outer};
}

double log_normal_tail(double z) { return normal_tail_and_hazard(z).log_tail; }

double log_normal_cdf(double z) { return log_normal_tail(-z); }

double normal_hazard(double z) { return normal_tail_and_hazard(z).hazard; }

double erfcx(double x) {
  if (x >= 0.0) return erfcx_right(x);
  if (x < -26.7) return kInfinity;
  return 2.0 * std::exp(x * x) - erfcx_right(-x);
}

NormalTail normal_tail_and_hazard(double z) {
  if (z >= 0.0) {
    if (z > 1e150) return {-kInfinity, z};
    const double scaled = erfcx_right(z * kSqrtHalf);
    return {-0.5 * z * z + std::log(0.5 * scaled), kSqrtTwoOverPi / scaled};
  }
  if (z < -1e3) return {0.0, 0.0};
  const double density = std::exp(-0.5 * z * z);
  const double below = 0.5 * density * erfcx_right(-z * kSqrtHalf);
  return {std::log1p(-below), 0.5 * kSqrtTwoOverPi * density / (1.0 - below)};
}

double normal_tail_quantile(double log_q) {
  if (log_q >= 0.0) return -kInfinity;
  if (log_q == -kInfinity) return kInfinity;
  constexpr double kLogHalf = -0.69314718055994530942;
  if (log_q > kLogHalf) return -normal_tail_quantile(std::log(-std::expm1(log_q)));

  // A rational guess right to 1e-9, far out the leading asymptotic terms; then Halley steps on log Q, each of which
  // triples the number of right digits.
  const double log_tail_start = -3.7193;  // of kNormalTailStart
  double z = log_q > log_tail_start ? middle_normal_guess(0.5 - std::exp(log_q)) : tail_quantile_guess(log_q);
  for (int i = 0; i < 8; ++i) {
    const NormalTail at = normal_tail_and_hazard(z);
    const double newton = (at.log_tail - log_q) / at.hazard;
    const double step = newton / (1.0 + 0.5 * newton * (at.hazard - z));
    z += step;
    if (std::abs(step) < 1e-5 * (1.0 + z)) break;
  }
  return z;
}

double normal_quantile(double p) {
  if (p <= 0.5) return -normal_tail_quantile(std::log(p));
  return normal_tail_quantile(std::log1p(-p));
}

NormalTailDraw normal_tail_draw(double bound, double u) {
  // Past this the tail is too small for differences of probabilities.
  constexpr double kFarBound = 5.0;
  if (!(bound < kFarBound)) {
    const NormalTail tail = normal_tail_and_hazard(bound);
    return {tail.log_tail, tail.hazard, std::max(bound, normal_tail_quantile(tail.log_tail + std::log1p(-u)))};
  }
  const double density = std::exp(-0.5 * bound * bound);
  const double outer = 0.5 * density * erfcx_right(std::abs(bound) * kSqrtHalf);
  const double above = bound < 0.0 ? 1.0 - outer : outer;
  const double q = (1.0 - u) * above;
  // P(Z < z), of which few digits would be left in 1 - q.
  const double p = bound < 0.0 ? outer + u * above : 1.0 - q;
  const double z = q <= 0.5 ? upper_quantile(q) : -upper_quantile(p);
  return {bound < 0.0 ? std::log1p(-outer) : std::log(outer), kDensityAtZero * density / above, std::max(bound, z)};
}

double log_normal_interval(double lower, double upper) {
  if (!(lower < upper)) return -kInfinity;
  if (lower > 0.0 || upper < 0.0) {
    const double nearest = std::min(std::abs(lower), std::abs(upper));
    if ((upper - lower) * (1.0 + nearest) < 1e-3) return log_narrow_interval(lower, upper);
    return lower > 0.0 ? log_right_interval(lower, upper) : log_right_interval(-upper, -lower);
  }
  const double outside = normal_tail(-lower) + normal_tail(upper);
  if (outside < 0.5) return std::log1p(-outside);
  return std::log(0.5 * (std::erf(upper * kSqrtHalf) + std::erf(-lower * kSqrtHalf)));
}

double truncated_normal_quantile(double lower, double upper, double u) {
  if (upper <= 0.0) return -truncated_normal_quantile(-upper, -lower, 1.0 - u);
  double z = 0.0;
  if (lower >= 0.0) {
    const double from = log_normal_tail(lower);
    const double ratio = upper == kInfinity ? 0.0 : std::exp(log_normal_tail(upper) - from);
    z = normal_tail_quantile(from + std::log1p(-u * (1.0 - ratio)));
  } else {
    const double q = (1.0 - u) * normal_tail(lower) + u * normal_tail(upper);
    if (q <= 0.5) {
      z = normal_tail_quantile(std::log(q));
    } else {
      z = -normal_tail_quantile(std::log((1.0 - u) * normal_cdf(lower) + u * normal_cdf(upper)));
    }
  }
  return std::clamp(z, lower, upper);
}

TailMoments normal_tail_moments(double lower) { return normal_tail_moments(lower, normal_hazard(lower)); }

TailMoments normal_tail_moments(double lower, double hazard) {
  // Past 30 the difference 1 + l lam - lam^2 of nearly equal numbers is replaced by its asymptotic series; both are
  // then right to 2e-10 relative.
  constexpr double kAsymptoticStart = 30.0;
  if (hazard == 0.0) return {0.0, 1.0};
  if (lower > kAsymptoticStart) {
    const double inverse = 1.0 / (lower * lower);
    return {hazard, inverse * (1.0 - inverse * (6.0 - inverse * (50.0 - inverse * (518.0 - 6354.0 * inverse))))};
  }
  return {hazard, 1.0 + hazard * (lower - hazard)};
}

TailMoments normal_interval_moments(double lower, double upper) {
  if (upper == kInfinity) return normal_tail_moments(lower);
  if (lower == -kInfinity) {
    const TailMoments mirrored = normal_tail_moments(-upper);
    return {-mirrored.mean, mirrored.variance};
  }
  const double width = upper - lower;
  const double nearest = lower > 0.0 ? lower : (upper < 0.0 ? -upper : 0.0);
  if (width * (1.0 + nearest) < 1e-3) {
    // Uniform up to a slope: the mean leans by -m w^2 / 12.
    const double m = 0.5 * (lower + upper);
    return {m - m * width * width / 12.0, width * width / 12.0};
  }
  const double log_p = log_normal_interval(lower, upper);
  const double at_lower = std::exp(log_normal_pdf(lower) - log_p);
  const double at_upper = std::exp(log_normal_pdf(upper) - log_p);
  const double mean = at_lower - at_upper;
  const double variance = 1.0 + lower * at_lower - upper * at_upper - mean * mean;
  return {mean, std::clamp(variance, 0.0, std::min(1.0, 0.25 * width * width))};
}

double log_normal_improvement(double z) {
  if (z > -1.0) return std::log(normal_pdf(z) + z * normal_cdf(z));
  if (z > -100.0) {
    const double sqrt_half_pi = 1.0 / kSqrtTwoOverPi;
    return log_normal_pdf(z) + std::log1p(z * sqrt_half_pi * erfcx_right(-z * kSqrtHalf));
  }
  const double inverse = 1.0 / (z * z);
  return log_normal_pdf(z) - 2.0 * std::log(-z) + std::log1p(-inverse * (3.0 - inverse * (15.0 - 105.0 * inverse)));
}

}  // namespace bapi
