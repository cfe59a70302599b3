#include "bapi/policy/pending.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "bapi/acquisition/improvement.h"

namespace bapi {
namespace {

// Their indices, ascending.
std::vector<Eigen::Index> most_promising(const Models& models, const Rows& rows, int count) {
  const Moments moments = models.surrogate->predict(rows);
  std::vector<double> promise(static_cast<std::size_t>(rows.size()));
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    promise[static_cast<std::size_t>(i)] =
        log_expected_improvement(moments.mean[i], std::sqrt(moments.variance[i]), models.best);
  }
  std::vector<Eigen::Index> order(promise.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](Eigen::Index i) { return promise[static_cast<std::size_t>(i)]; });
  order.resize(static_cast<std::size_t>(count));
  std::ranges::sort(order);
  return order;
}

}  // namespace

std::unique_ptr<CurveSurrogate> with_running(const Models& models, const Rows& pending) {
  if (pending.size() <= kMostPending) return models.surrogate->with_pending(pending);
  return models.surrogate->with_pending(pending.select(most_promising(models, pending, kMostPending)));
}

}  // namespace bapi
