#include "bapi/math/cholesky.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr std::array<double, 5> kRelativeJitter = {0.0, 1e-10, 1e-8, 1e-6, 1e-4};

// Room for a running curve: appends within it do not move the factor.
constexpr Eigen::Index kSpareRows = 32;

// Leading dimensions that are multiples of a page's worth of doubles make columns collide in the cache.
Eigen::Index leading_dimension(Eigen::Index rows) {
  const Eigen::Index padded = (rows + 3) / 4 * 4;
  return padded % 64 == 0 ? padded + 4 : padded;
}

// Factors a + jitter I into `out` (n x n); false if it breaks down.
bool factor_into(const Eigen::Ref<const Matrix>& a, double jitter, MatrixBlock out) {
  out.triangularView<Eigen::Lower>() = a;
  out.triangularView<Eigen::StrictlyUpper>().setZero();
  out.diagonal().array() += jitter;
  return factor_in_place(out);
}

// The first jitter of the list that works.
std::optional<double> factor_with_jitter(const Eigen::Ref<const Matrix>& a, MatrixBlock out) {
  const double scale = a.rows() == 0 ? 0.0 : a.diagonal().mean();
  if (!std::isfinite(scale)) return std::nullopt;
  for (const double relative : kRelativeJitter) {
    if (factor_into(a, relative * scale, out)) return relative * scale;
  }
  return std::nullopt;
}

// Below this size the recursion costs more than it saves.
constexpr Eigen::Index kLeafSize = 32;

// (L L^T)^-1 for a small L, by its inverse.
void inverse_of_leaf(const MatrixView& lower, MatrixBlock inverse) {
  Matrix inverse_factor = Matrix::Identity(lower.rows(), lower.rows());
  lower.triangularView<Eigen::Lower>().solveInPlace(inverse_factor);
  inverse.noalias() = inverse_factor.transpose().triangularView<Eigen::Upper>() * inverse_factor;
  inverse.triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
}

}  // namespace

bool factor_in_place(MatrixBlock a) {
  const Eigen::LLT<MatrixBlock> llt(a);
  return llt.info() == Eigen::Success && a.diagonal().allFinite();
}

// With L = [L11 0; L21 L22] and X = L21 L11^-1:
//   P22 = (L22 L22^T)^-1,   P21 = -P22 X,   P11 = (L11 L11^T)^-1 - X^T P21.
// Nearly all work is in products of full matrices.
void inverse_from_factor(const MatrixView& lower, MatrixBlock inverse) {
  const Eigen::Index n = lower.rows();
  if (n <= kLeafSize) return inverse_of_leaf(lower, inverse);
  const Eigen::Index n1 = (n / 2 + 7) / 8 * 8;
  const Eigen::Index n2 = n - n1;
  MatrixBlock p11 = inverse.topLeftCorner(n1, n1);
  MatrixBlock p22 = inverse.bottomRightCorner(n2, n2);
  MatrixBlock p21 = inverse.bottomLeftCorner(n2, n1);
  inverse_from_factor(lower.topLeftCorner(n1, n1), p11);
  inverse_from_factor(lower.bottomRightCorner(n2, n2), p22);
  Matrix x = lower.bottomLeftCorner(n2, n1);
  lower.topLeftCorner(n1, n1).triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(x);
  p21.noalias() = -p22 * x;
  p11.triangularView<Eigen::Lower>() -= x.transpose() * p21;
  p11.triangularView<Eigen::StrictlyUpper>() = p11.transpose();
  inverse.topRightCorner(n1, n2) = p21.transpose();
}

std::optional<Cholesky> Cholesky::factor(const Matrix& a) {
  check(a.rows() == a.cols(), "Cholesky: the matrix is not square");
  Cholesky result;
  result.reserve(a.rows() + kSpareRows);
  result.size_ = a.rows();
  const std::optional<double> jitter = factor_with_jitter(a, result.storage_.topLeftCorner(result.size_, result.size_));
  if (!jitter) return std::nullopt;
  result.jitter_.assign(static_cast<std::size_t>(a.rows()), *jitter);
  return result;
}

double Cholesky::jitter() const { return jitter_.empty() ? 0.0 : *std::max_element(jitter_.begin(), jitter_.end()); }

double Cholesky::log_det() const { return 2.0 * lower().diagonal().array().log().sum(); }

Matrix Cholesky::solve_lower(Matrix b) const {
  if (size_ > 0) lower().triangularView<Eigen::Lower>().solveInPlace(b);
  return b;
}

Matrix Cholesky::solve_lower_transposed(Matrix b) const {
  if (size_ > 0) lower().transpose().triangularView<Eigen::Upper>().solveInPlace(b);
  return b;
}

Vector Cholesky::solve_lower(Vector b) const {
  if (size_ > 0) lower().triangularView<Eigen::Lower>().solveInPlace(b);
  return b;
}

Vector Cholesky::solve_lower_transposed(Vector b) const {
  if (size_ > 0) lower().transpose().triangularView<Eigen::Upper>().solveInPlace(b);
  return b;
}

Vector Cholesky::solve(Vector b) const { return solve_lower_transposed(solve_lower(std::move(b))); }

Matrix Cholesky::solve(Matrix b) const { return solve_lower_transposed(solve_lower(std::move(b))); }

Matrix Cholesky::inverse_of_matrix() const {
  Matrix inverse(size_, size_);
  inverse_from_factor(lower(), inverse);
  return inverse;
}

bool Cholesky::append(const Matrix& cross, const Matrix& corner) { return append_whitened(solve_lower(cross), corner); }

bool Cholesky::append_whitened(const Matrix& whitened_cross, const Matrix& corner) {
  const Eigen::Index added = corner.rows();
  check(whitened_cross.rows() == size_ && whitened_cross.cols() == added && corner.cols() == added,
        "Cholesky: appended blocks have the wrong shape");
  Matrix complement = corner;
  complement.noalias() -= whitened_cross.transpose() * whitened_cross;
  Matrix corner_factor(added, added);
  const std::optional<double> jitter = factor_with_jitter(complement, corner_factor);
  if (!jitter || !whitened_cross.allFinite()) return false;
  if (size_ + added > storage_.rows()) reserve(size_ + added + std::max(kSpareRows, size_ / 8));
  storage_.block(size_, 0, added, size_) = whitened_cross.transpose();
  storage_.block(0, size_, size_, added).setZero();
  storage_.block(size_, size_, added, added) = corner_factor;
  size_ += added;
  jitter_.resize(static_cast<std::size_t>(size_), *jitter);
  return true;
}

void Cholesky::pop(Eigen::Index count) {
  check(count >= 0 && count <= size_, "Cholesky: cannot remove more rows than there are");
  size_ -= count;
  jitter_.resize(static_cast<std::size_t>(size_));
}

void Cholesky::reserve(Eigen::Index rows) {
  const Eigen::Index leading = leading_dimension(rows);
  Matrix larger(leading, rows);
  larger.topLeftCorner(size_, size_) = storage_.topLeftCorner(size_, size_);
  storage_.swap(larger);
}

}  // namespace bapi
