#include "bapi/compare/rank_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr double kSmall = 1e-300;
constexpr double kAccuracy = 1e-15;
constexpr int kMostSteps = 10000;

double normal_density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi); }
double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

std::vector<std::size_t> ascending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

// Sum of t^3 - t over the groups of t equal ranks.
double tie_term(std::vector<double> ranks) {
  std::sort(ranks.begin(), ranks.end());
  double sum = 0.0;
  for (auto first = ranks.begin(); first != ranks.end();) {
    const auto last = std::find_if(first, ranks.end(), [&](double r) { return r != *first; });
    const auto t = static_cast<double>(last - first);
    sum += t * t * t - t;
    first = last;
  }
  return sum;
}

FriedmanTest friedman_from(double chi_squared, double methods, double blocks) {
  FriedmanTest test;
  test.chi_squared = std::max(0.0, chi_squared);
  test.degrees = methods - 1.0;
  test.p = chi_squared_tail(test.chi_squared, test.degrees);
  test.f_degrees = test.degrees * (blocks - 1.0);
  const double left = blocks * test.degrees - test.chi_squared;
  const bool all_agree = left <= 1e-9 * blocks * test.degrees;
  test.f = all_agree ? std::numeric_limits<double>::infinity() : (blocks - 1.0) * test.chi_squared / left;
  test.f_p = test.f_degrees <= 0.0 ? 1.0 : all_agree ? 0.0 : f_tail(test.f, test.degrees, test.f_degrees);
  return test;
}

double untied_chi_squared(std::span<const double> average, double blocks) {
  const auto k = static_cast<double>(average.size());
  double squares = 0.0;
  for (const double rank : average) squares += rank * rank;
  return 12.0 * blocks / (k * (k + 1.0)) * (squares - 0.25 * k * (k + 1.0) * (k + 1.0));
}

// Continued fraction of the incomplete gamma function, by Lentz' method; for x > a + 1.
double gamma_tail_fraction(double a, double x) {
  double b = x + 1.0 - a;
  double c = 1.0 / kSmall;
  double d = 1.0 / b;
  double h = d;
  for (int i = 1; i < kMostSteps; ++i) {
    const double numerator = -i * (i - a);
    b += 2.0;
    d = 1.0 / std::max(std::abs(numerator * d + b), kSmall) * (numerator * d + b < 0.0 ? -1.0 : 1.0);
    c = b + numerator / c;
    if (std::abs(c) < kSmall) c = kSmall;
    h *= d * c;
    if (std::abs(d * c - 1.0) < kAccuracy) break;
  }
  return h * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

double gamma_head_series(double a, double x) {
  double term = 1.0 / a;
  double sum = term;
  for (int i = 1; i < kMostSteps && term > kAccuracy * sum; ++i) {
    term *= x / (a + i);
    sum += term;
  }
  return sum * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

// Continued fraction of the incomplete beta function, by Lentz' method; for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  const auto floored = [](double v) { return std::abs(v) < kSmall ? kSmall : v; };
  double c = 1.0;
  double d = 1.0 / floored(1.0 - (a + b) * x / (a + 1.0));
  double h = d;
  for (int m = 1; m < kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    d = 1.0 / floored(1.0 + even * d);
    c = floored(1.0 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    d = 1.0 / floored(1.0 + odd * d);
    c = floored(1.0 + odd / c);
    h *= d * c;
    if (std::abs(d * c - 1.0) < kAccuracy) break;
  }
  return h;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
  return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

// Probability that the range of `methods` independent standard normals exceeds q. Simpson's rule; the integrand is
// smooth and vanishes at both ends.
double normal_range_tail(double q, int methods) {
  constexpr int kSteps = 400;
  constexpr double kReach = 8.0;
  const double step = (2.0 * kReach + q) / kSteps;
  double sum = 0.0;
  for (int i = 0; i <= kSteps; ++i) {
    const double z = -kReach + i * step;
    const double inside = std::pow(normal_below(z) - normal_below(z - q), methods - 1);
    sum += (i == 0 || i == kSteps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) * normal_density(z) * inside;
  }
  return 1.0 - methods * sum * step / 3.0;
}

// P(sum of the ranks of positive differences <= at most), every sign equally likely. Ranks may be halves.
double exact_lower_tail(const std::vector<double>& ranks, double at_most) {
  std::vector<double> probability{1.0};  // of each doubled sum
  for (const double rank : ranks) {
    const auto shift = static_cast<std::size_t>(std::lround(2.0 * rank));
    std::vector<double> next(probability.size() + shift, 0.0);
    for (std::size_t s = 0; s < probability.size(); ++s) {
      next[s] += 0.5 * probability[s];
      next[s + shift] += 0.5 * probability[s];
    }
    probability = std::move(next);
  }
  const auto last = static_cast<std::ptrdiff_t>(std::lround(2.0 * at_most));
  return std::accumulate(probability.begin(), probability.begin() + last + 1, 0.0);
}

double normal_lower_tail(const std::vector<double>& ranks, double at_most) {
  const auto n = static_cast<double>(ranks.size());
  const double mean = 0.25 * n * (n + 1.0);
  const double variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_term(ranks) / 48.0;
  return normal_below((at_most + 0.5 - mean) / std::sqrt(variance));
}

}  // namespace

std::vector<double> mean_ranks(std::span<const double> values) {
  const std::vector<std::size_t> order = ascending(values);
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double shared = 0.5 * static_cast<double>(first + last) + 1.0;
    for (std::size_t i = first; i <= last; ++i) ranks[order[i]] = shared;
    first = last + 1;
  }
  return ranks;
}

MeanAndError mean_and_error(std::span<const double> values) {
  check(!values.empty(), "mean_and_error: there is no value");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : sorted) squares += (value - mean) * (value - mean);
  const double error = n > 1.0 ? std::sqrt(squares / (n - 1.0) / n) : std::numeric_limits<double>::quiet_NaN();
  return {.mean = mean, .error = error};
}

FriedmanTest friedman_test(const std::vector<std::vector<double>>& ranks) {
  check(!ranks.empty() && ranks.front().size() >= 2, "friedman_test: needs a block and two methods");
  const auto blocks = static_cast<double>(ranks.size());
  const auto k = static_cast<double>(ranks.front().size());
  std::vector<double> average(ranks.front().size(), 0.0);
  double ties = 0.0;
  for (const std::vector<double>& block : ranks) {
    check(block.size() == average.size(), "friedman_test: a block has another number of methods");
    for (std::size_t j = 0; j < block.size(); ++j) average[j] += block[j] / blocks;
    ties += tie_term(block);
  }
  const double correction = 1.0 - ties / (blocks * k * (k * k - 1.0));
  if (correction <= 1e-12) return friedman_from(0.0, k, blocks);  // nothing but ties
  return friedman_from(untied_chi_squared(average, blocks) / correction, k, blocks);
}

FriedmanTest friedman_test(std::span<const double> average_ranks, int blocks) {
  check(average_ranks.size() >= 2 && blocks >= 1, "friedman_test: needs a block and two methods");
  return friedman_from(untied_chi_squared(average_ranks, blocks),
                       static_cast<double>(average_ranks.size()),
                       static_cast<double>(blocks));
}

double nemenyi_difference(int methods, int blocks, double level) {
  check(methods >= 2 && blocks >= 1 && level > 0.0 && level < 1.0, "nemenyi_difference: outside its domain");
  double low = 0.0;
  double high = 20.0;
  while (high - low > 1e-12 * high) {
    const double middle = 0.5 * (low + high);
    (normal_range_tail(middle, methods) > level ? low : high) = middle;
  }
  const double k = methods;
  return high / std::numbers::sqrt2 * std::sqrt(k * (k + 1.0) / (6.0 * blocks));
}

SignedRankTest signed_rank_test(std::span<const double> differences) {
  std::vector<double> unequal;
  std::copy_if(differences.begin(), differences.end(), std::back_inserter(unequal), [](double d) { return d != 0.0; });
  SignedRankTest test{.pairs = static_cast<int>(unequal.size())};
  if (unequal.empty()) return test;
  std::vector<double> sizes;
  for (const double d : unequal) sizes.push_back(std::abs(d));
  const std::vector<double> ranks = mean_ranks(sizes);
  for (std::size_t i = 0; i < ranks.size(); ++i) (unequal[i] > 0.0 ? test.plus : test.minus) += ranks[i];
  const double smaller = std::min(test.plus, test.minus);
  constexpr std::size_t kMostExact = 100;
  const double tail = ranks.size() <= kMostExact ? exact_lower_tail(ranks, smaller) : normal_lower_tail(ranks, smaller);
  test.p = std::min(1.0, 2.0 * tail);
  return test;
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  double largest = 0.0;
  double tests = static_cast<double>(p.size());
  for (const std::size_t i : ascending(p)) {
    largest = std::max(largest, std::min(1.0, tests * p[i]));
    adjusted[i] = largest;
    tests -= 1.0;
  }
  return adjusted;
}

double chi_squared_tail(double x, double degrees) {
  if (x <= 0.0) return 1.0;
  const double a = 0.5 * degrees;
  const double half = 0.5 * x;
  return half < a + 1.0 ? 1.0 - gamma_head_series(a, half) : gamma_tail_fraction(a, half);
}

double f_tail(double x, double degrees, double other_degrees) {
  if (x <= 0.0) return 1.0;
  return incomplete_beta(0.5 * other_degrees, 0.5 * degrees, other_degrees / (other_degrees + degrees * x));
}

}  // namespace bapi
