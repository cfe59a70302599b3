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

// Up to this many right-hand sides a solve is bound by reading L: general blocked code packs L first, which costs more
// than the solve itself.
constexpr Eigen::Index kFewColumns = 12;

using Lane = Eigen::Array4d;
constexpr Eigen::Index kLane = 4;

Eigen::Map<const Lane> lane(const double* at) { return Eigen::Map<const Lane>(at); }
Eigen::Map<Lane> lane(double* at) { return Eigen::Map<Lane>(at); }

// L x = b for R columns of b at once, four columns of L at a time: each element of L is read once for all of them.
template <int R>
void forward(const MatrixView& lower, double* b, Eigen::Index stride) {
  const Eigen::Index n = lower.rows();
  const Eigen::Index ld = lower.outerStride();
  const double* l = lower.data();
  Eigen::Index j = 0;
  for (; j + kLane <= n; j += kLane) {
    const double* l0 = l + j * ld;
    double x[kLane][R];
    for (int r = 0; r < R; ++r) {
      for (Eigen::Index k = 0; k < kLane; ++k) {
        double rest = b[r * stride + j + k];
        for (Eigen::Index m = 0; m < k; ++m) rest -= l0[m * ld + j + k] * x[m][r];
        x[k][r] = rest / l0[k * ld + j + k];
        b[r * stride + j + k] = x[k][r];
      }
    }
    Eigen::Index i = j + kLane;
    for (; i + kLane <= n; i += kLane) {
      const Lane a0 = lane(l0 + i);
      const Lane a1 = lane(l0 + ld + i);
      const Lane a2 = lane(l0 + 2 * ld + i);
      const Lane a3 = lane(l0 + 3 * ld + i);
      for (int r = 0; r < R; ++r) {
        lane(b + r * stride + i) -= (a0 * x[0][r] + a1 * x[1][r]) + (a2 * x[2][r] + a3 * x[3][r]);
      }
    }
    for (; i < n; ++i) {
      for (int r = 0; r < R; ++r) {
        for (Eigen::Index k = 0; k < kLane; ++k) b[r * stride + i] -= l0[k * ld + i] * x[k][r];
      }
    }
  }
  for (; j < n; ++j) {
    for (int r = 0; r < R; ++r) {
      const double x = b[r * stride + j] /= l[j * ld + j];
      for (Eigen::Index i = j + 1; i < n; ++i) b[r * stride + i] -= l[j * ld + i] * x;
    }
  }
}

// L^T x = b for R columns of b at once, two columns of L at a time, from the end.
template <int R>
void backward(const MatrixView& lower, double* b, Eigen::Index stride) {
  const Eigen::Index ld = lower.outerStride();
  const double* l = lower.data();
  const Eigen::Index n = lower.rows();
  Eigen::Index j = n;
  for (; j >= 2; j -= 2) {
    const double* l0 = l + (j - 2) * ld;
    const double* l1 = l0 + ld;
    Lane sum0[R];
    Lane sum1[R];
    for (int r = 0; r < R; ++r) {
      sum0[r].setZero();
      sum1[r].setZero();
    }
    Eigen::Index i = j;
    for (; i + kLane <= n; i += kLane) {
      const Lane a0 = lane(l0 + i);
      const Lane a1 = lane(l1 + i);
      for (int r = 0; r < R; ++r) {
        const Lane x = lane(b + r * stride + i);
        sum0[r] += a0 * x;
        sum1[r] += a1 * x;
      }
    }
    for (int r = 0; r < R; ++r) {
      double* column = b + r * stride;
      double rest0 = column[j - 2] - sum0[r].sum();
      double rest1 = column[j - 1] - sum1[r].sum();
      for (Eigen::Index k = i; k < n; ++k) {
        rest0 -= l0[k] * column[k];
        rest1 -= l1[k] * column[k];
      }
      column[j - 1] = rest1 / l1[j - 1];
      column[j - 2] = (rest0 - l0[j - 1] * column[j - 1]) / l0[j - 2];
    }
  }
  if (j == 1) {
    for (int r = 0; r < R; ++r) {
      double* column = b + r * stride;
      double rest = column[0];
      for (Eigen::Index k = 1; k < n; ++k) rest -= l[k] * column[k];
      column[0] = rest / l[0];
    }
  }
}

void forward_few(const MatrixView& lower, double* b, Eigen::Index columns, Eigen::Index stride) {
  for (; columns >= 4; columns -= 4, b += 4 * stride) forward<4>(lower, b, stride);
  if (columns == 3) forward<3>(lower, b, stride);
  if (columns == 2) forward<2>(lower, b, stride);
  if (columns == 1) forward<1>(lower, b, stride);
}

void backward_few(const MatrixView& lower, double* b, Eigen::Index columns, Eigen::Index stride) {
  for (; columns >= 4; columns -= 4, b += 4 * stride) backward<4>(lower, b, stride);
  if (columns == 3) backward<3>(lower, b, stride);
  if (columns == 2) backward<2>(lower, b, stride);
  if (columns == 1) backward<1>(lower, b, stride);
}

// Below this size the recursion costs more than it saves.
constexpr Eigen::Index kLeafSize = 32;

// (L L^T)^-1 for a small L: W = L^-1, then W^T W, both without their zeros.
void inverse_of_leaf(const MatrixView& lower, MatrixBlock inverse) {
  const Eigen::Index n = lower.rows();
  Matrix w = Matrix::Identity(n, n);
  for (Eigen::Index j = 0; j < n; j += kLane) {
    const Eigen::Index rest = n - j;
    forward_few(lower.bottomRightCorner(rest, rest), w.data() + j * n + j, std::min(kLane, rest), n);
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i) {
      inverse(i, j) = w.col(i).tail(n - i).dot(w.col(j).tail(n - i));
      inverse(j, i) = inverse(i, j);
    }
  }
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
  check(b.rows() == size_, "Cholesky: the right-hand side has another size than the factor");
  if (b.cols() <= kFewColumns) {
    forward_few(lower(), b.data(), b.cols(), size_);
  } else if (size_ > 0) {
    lower().triangularView<Eigen::Lower>().solveInPlace(b);
  }
  return b;
}

Matrix Cholesky::solve_lower_transposed(Matrix b) const {
  check(b.rows() == size_, "Cholesky: the right-hand side has another size than the factor");
  if (b.cols() <= kFewColumns) {
    backward_few(lower(), b.data(), b.cols(), size_);
  } else if (size_ > 0) {
    lower().transpose().triangularView<Eigen::Upper>().solveInPlace(b);
  }
  return b;
}

Vector Cholesky::solve_lower(Vector b) const {
  check(b.size() == size_, "Cholesky: the right-hand side has another size than the factor");
  forward<1>(lower(), b.data(), size_);
  return b;
}

Vector Cholesky::solve_lower_transposed(Vector b) const {
  check(b.size() == size_, "Cholesky: the right-hand side has another size than the factor");
  backward<1>(lower(), b.data(), size_);
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
  // Columns tell the capacity: there may be more rows than that, for the sake of the cache.
  if (size_ + added > storage_.cols()) reserve(size_ + added + std::max(kSpareRows, size_ / 8));
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
