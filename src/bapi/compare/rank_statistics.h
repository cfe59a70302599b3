#pragma once

#include <span>
#include <vector>

namespace bapi {

// Statistics of comparisons by rank. Free of Eigen and of every other module, so that they can be used anywhere.

// 1 for the smallest value; equal values share the mean of their ranks. The ranks of k values sum to k (k + 1) / 2.
std::vector<double> mean_ranks(std::span<const double> values);

struct MeanAndError {
  double mean = 0.0;
  double error = 0.0;  // standard deviation (n - 1) over sqrt(n); NaN for fewer than two values
};

// The same for every order of the same values, to the last bit.
MeanAndError mean_and_error(std::span<const double> values);

// Whether k methods, each ranked in N blocks, can be told apart at all.
struct FriedmanTest {
  double chi_squared = 0.0;
  double degrees = 0.0;  // k - 1
  double p = 1.0;
  // Iman and Davenport's form, less conservative: F on (k - 1, (k - 1)(N - 1)) degrees. Infinite if all blocks agree.
  double f = 0.0;
  double f_degrees = 0.0;  // the second number of degrees
  double f_p = 1.0;
};

// `ranks[i][j]` is the rank of method j in block i, ties with mean ranks; chi-squared is corrected for them.
FriedmanTest friedman_test(const std::vector<std::vector<double>>& ranks);

// From published average ranks over `blocks` blocks, as if there had been no ties.
FriedmanTest friedman_test(std::span<const double> average_ranks, int blocks);

// Average ranks of `methods` methods over `blocks` blocks differ significantly if they are further apart than this
// (Nemenyi, two-sided, all pairs at once).
double nemenyi_difference(int methods, int blocks, double level = 0.05);

struct SignedRankTest {
  int pairs = 0;       // that differ; equal ones say nothing
  double plus = 0.0;   // sum of ranks of positive differences
  double minus = 0.0;  // of negative ones
  double p = 1.0;      // two-sided
};

// Wilcoxon's test of paired differences. Exact up to 100 pairs, also with ties among the differences; beyond that the
// normal approximation with continuity correction.
SignedRankTest signed_rank_test(std::span<const double> differences);

// P-values of several tests made together, adjusted so that all may be held against one level (Holm). In the order of
// `p`, never below it and never above 1.
std::vector<double> holm_adjusted(std::span<const double> p);

// Largest runs of neighbours in `order` of which no pair is told apart: what a critical-difference diagram joins with a
// bar. `different(a, b)` is asked for elements of `order`. Pairs (first, last) of positions, first < last.
template <typename Different>
std::vector<std::pair<std::size_t, std::size_t>> indistinguishable_runs(std::span<const std::size_t> order,
                                                                        const Different& different) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (std::size_t first = 0; first < order.size(); ++first) {
    std::size_t last = first;
    const auto joins = [&](std::size_t next) {
      for (std::size_t i = first; i < next; ++i) {
        if (different(order[i], order[next])) return false;
      }
      return true;
    };
    while (last + 1 < order.size() && joins(last + 1)) ++last;
    const bool inside_another = !runs.empty() && runs.back().second >= last;
    if (last > first && !inside_another) runs.emplace_back(first, last);
  }
  return runs;
}

// Probability that a chi-squared, or an F distributed, variable exceeds x.
double chi_squared_tail(double x, double degrees);
double f_tail(double x, double degrees, double other_degrees);

}  // namespace bapi
