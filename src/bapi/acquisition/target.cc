#include "bapi/acquisition/target.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "bapi/math/normal.h"

namespace bapi {
namespace {

constexpr int kBisections = 30;

// How many of the `runs` likeliest candidates pass `value`, on average.
double expected_to_pass(
    const Vector& means, const Vector& sds, const Vector& success, double value, Eigen::Index runs) {
  std::vector<double> chances;
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    const double passes = sds[i] > 0.0 ? normal_cdf((means[i] - value) / sds[i]) : means[i] > value ? 1.0 : 0.0;
    chances.push_back(success[i] * passes);
  }
  std::nth_element(chances.begin(), chances.begin() + (runs - 1), chances.end(), std::greater<>());
  return std::accumulate(chances.begin(), chances.begin() + runs, 0.0);
}

}  // namespace

double reachable_value(const Vector& means, const Vector& sds, const Vector& success, double best, double runs) {
  const auto count = static_cast<Eigen::Index>(std::min(std::floor(runs), static_cast<double>(means.size())));
  if (count <= 1 || expected_to_pass(means, sds, success, best, count) <= 1.0) return best;
  double low = best;
  double high = std::max(best, (means + 10.0 * sds).maxCoeff());
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::midpoint(low, high);
    (expected_to_pass(means, sds, success, middle, count) > 1.0 ? low : high) = middle;
  }
  return low;
}

}  // namespace bapi
