#include "bapi/kernel/product_kernel.h"

#include <utility>

#include "bapi/base/error.h"

namespace bapi {
namespace {

bool same_point(const Matrix& x, Eigen::Index i, Eigen::Index j) { return x.row(i) == x.row(j); }

}  // namespace

Covariance::Covariance(ProductKernel kernel, Epoch max_epoch)
    : kernel_(std::move(kernel)), table_(kernel_.time, max_epoch) {}

Matrix Covariance::cross(const Rows& a, const Rows& b) const {
  const Matrix from = kernel_.space.scaled(a.x);
  const Matrix to = kernel_.space.scaled(b.x);
  Matrix k(a.size(), b.size());
  Vector distances(a.size());
  Vector over_x(a.size());
  Vector over_time(a.size());
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    if (i == 0 || !same_point(b.x, i, i - 1)) {
      squared_distances(from, 0, to, i, distances);
      kernel_.space.correlations(distances, over_x);
    }
    table_.covariances(a, 0, b, i, over_time);
    k.col(i) = kernel_.amplitude * over_x.cwiseProduct(over_time);
    if (kernel_.own_amplitude > 0.0) {
      for (Eigen::Index j = 0; j < a.size(); ++j) {
        if (a.group[j] == b.group[i]) k(j, i) += kernel_.own_amplitude * over_time(j);
      }
    }
  }
  return k;
}

Matrix Covariance::gram(const Rows& a) const {
  const Matrix scaled = kernel_.space.scaled(a.x);
  const Eigen::Index n = a.size();
  Matrix k(n, n);
  Vector distances(n);
  Vector over_x(n);
  Vector over_time(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index rest = n - i;
    squared_distances(scaled, i, scaled, i, distances.head(rest));
    kernel_.space.correlations(distances.head(rest), over_x.head(rest));
    table_.covariances(a, i, a, i, over_time.head(rest));
    k.col(i).tail(rest) = kernel_.amplitude * over_x.head(rest).cwiseProduct(over_time.head(rest));
    if (kernel_.own_amplitude > 0.0) {
      for (Eigen::Index j = i; j < n; ++j) {
        if (a.group[j] == a.group[i]) k(j, i) += kernel_.own_amplitude * over_time(j - i);
      }
    }
    k.row(i).tail(rest) = k.col(i).tail(rest).transpose();
  }
  return k;
}

Vector Covariance::variances(const Rows& a) const {
  const double total = kernel_.amplitude + kernel_.own_amplitude;
  Vector k(a.size());
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    table_.covariances(a, i, a, i, k.segment(i, 1));
    k(i) *= total;
  }
  return k;
}

Vector Covariance::contracted(const Rows& a, const Rows& b, const Vector& weights) const {
  check(weights.size() == a.size(), "contraction: weights have the wrong length");
  const Matrix from = kernel_.space.scaled(a.x);
  const Matrix to = kernel_.space.scaled(b.x);
  Vector result(b.size());
  Vector distances(a.size());
  Vector weighted(a.size());
  for (Eigen::Index first = 0; first < b.size();) {
    Eigen::Index next = first + 1;
    while (next < b.size() && b.group[next] == b.group[first] && same_point(b.x, next, first)) ++next;
    squared_distances(from, 0, to, first, distances);
    kernel_.space.correlations(distances, weighted);
    weighted.array() *= kernel_.amplitude * weights.array();
    if (kernel_.own_amplitude > 0.0) {
      for (Eigen::Index j = 0; j < a.size(); ++j) {
        if (a.group[j] == b.group[first]) weighted(j) += kernel_.own_amplitude * weights(j);
      }
    }
    result.segment(first, next - first) = contracted_curve(a, b, first, next - first, weighted);
    first = next;
  }
  return result;
}

// sum_j weights(j) kt(b_i, a_j) for `count` rows of b from `first` on.
Vector Covariance::contracted_curve(
    const Rows& a, const Rows& b, Eigen::Index first, Eigen::Index count, const Vector& weights) const {
  Vector result = Vector::Zero(count);
  if (!table_.covers(a.max_epoch) || !table_.covers(b.max_epoch)) {
    Vector over_time(a.size());
    for (Eigen::Index i = 0; i < count; ++i) {
      table_.covariances(a, 0, b, first + i, over_time);
      result(i) = over_time.dot(weights);
    }
    return result;
  }
  for (const Op op : {Op::value, Op::slope}) {
    Vector sums = Vector::Zero(a.max_epoch + 1);
    for (Eigen::Index j = 0; j < a.size(); ++j) {
      if (a.op[j] == op) sums(a.epoch[j]) += weights(j);
    }
    for (Epoch epoch = 0; epoch <= a.max_epoch; ++epoch) {
      if (sums(epoch) == 0.0) continue;
      for (Eigen::Index i = 0; i < count; ++i) {
        result(i) += sums(epoch) * table_.at(op, epoch, b.op[first + i], b.epoch[first + i]);
      }
    }
  }
  return result;
}

Matrix Covariance::contracted_x_gradient(const Rows& a, const Rows& b, const Matrix& weights) const {
  check(weights.rows() == a.size() && (weights.cols() == 1 || weights.cols() == b.size()),
        "x gradient: weights have the wrong shape");
  const Matrix from = kernel_.space.scaled(a.x);
  const Matrix to = kernel_.space.scaled(b.x);
  Matrix gradient(b.dim(), b.size());
  Vector distances(a.size());
  Vector over_x(a.size());
  Vector factors(a.size());
  Vector weighted(a.size());
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    if (i == 0 || !same_point(b.x, i, i - 1)) {
      squared_distances(from, 0, to, i, distances);
      kernel_.space.correlations_and_factors(distances, over_x, factors);
    }
    table_.covariances(a, 0, b, i, weighted);
    weighted.array() *= kernel_.amplitude * factors.array() * weights.col(weights.cols() == 1 ? 0 : i).array();
    for (Eigen::Index j = 0; j < b.dim(); ++j) {
      gradient(j, i) = (from.col(j).array() - to(i, j)).matrix().dot(weighted) / kernel_.space.lengthscales(j);
    }
  }
  return gradient;
}

std::vector<Matrix> Covariance::contracted_x_gradients(const Rows& a, const Rows& b, const Matrix& weights) const {
  check(weights.rows() == a.size(), "x gradients: weights have the wrong shape");
  const Matrix from = kernel_.space.scaled(a.x);
  const Matrix to = kernel_.space.scaled(b.x);
  Matrix factors(a.size(), b.size());
  Vector distances(a.size());
  Vector over_x(a.size());
  Vector over_time(a.size());
  Vector factor(a.size());
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    check(same_point(b.x, i, 0), "x gradients: the rows are not at one x");
    if (i == 0) {
      squared_distances(from, 0, to, i, distances);
      kernel_.space.correlations_and_factors(distances, over_x, factor);
    }
    table_.covariances(a, 0, b, i, over_time);
    factors.col(i) = kernel_.amplitude * factor.cwiseProduct(over_time);
  }
  std::vector<Matrix> gradients;
  gradients.reserve(static_cast<std::size_t>(b.dim()));
  for (Eigen::Index j = 0; j < b.dim(); ++j) {
    const double inverse = 1.0 / kernel_.space.lengthscales(j);
    const Vector offsets = b.size() == 0 ? Vector(a.size()) : Vector((from.col(j).array() - to(0, j)) * inverse);
    gradients.push_back(factors.transpose() * offsets.asDiagonal() * weights);
  }
  return gradients;
}

}  // namespace bapi
