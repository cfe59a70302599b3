#pragma once

#include <optional>
#include <vector>

#include "bapi/math/types.h"

namespace bapi {

// A matrix inside larger storage.
using MatrixView = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

// The lower Cholesky factor L of a symmetric positive definite matrix, a = L L^T. Rows can be appended and removed at
// the end for n^2.
class Cholesky {
 public:
  Cholesky() = default;

  // Factor of a + jitter * I for the first jitter of a fixed short list (0, then 1e-10 ... 1e-4 times the mean of the
  // diagonal) that works; nullopt if none does or `a` is not finite. Only the lower half of `a` is read.
  static std::optional<Cholesky> factor(const Matrix& a);

  Eigen::Index size() const { return size_; }
  double jitter() const;  // the most that was really added to an element of the diagonal

  // L; what stands above the diagonal is 0.
  MatrixView lower() const { return storage_.topLeftCorner(size_, size_); }

  // log det(a).
  double log_det() const;

  // L^-1 b and L^-T b; b may have any number of columns, all of them go through one blocked solve.
  Matrix solve_lower(Matrix b) const;
  Matrix solve_lower_transposed(Matrix b) const;
  Vector solve_lower(Vector b) const;
  Vector solve_lower_transposed(Vector b) const;

  // a^-1 b.
  Vector solve(Vector b) const;
  Matrix solve(Matrix b) const;

  // a^-1, both halves filled.
  Matrix inverse_of_matrix() const;

  // Extends a by rows and columns: `cross` (n x q) is the block above `corner` (q x q). The factor of the Schur
  // complement may need jitter too. False, and no change, if it is not positive definite.
  bool append(const Matrix& cross, const Matrix& corner);

  // The same when L^-1 cross is at hand.
  bool append_whitened(const Matrix& whitened_cross, const Matrix& corner);

  // Removes the last `count` rows and columns.
  void pop(Eigen::Index count);

 private:
  void reserve(Eigen::Index rows);

  Matrix storage_;  // leading dimension above size_, so that an append does not copy
  Eigen::Index size_ = 0;
  std::vector<double> jitter_;  // per row
};

// A square part of a larger matrix, to be overwritten.
using MatrixBlock = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;

// The two steps behind the class for callers that keep their own storage. Both touch the lower half only, unless said
// otherwise.
//
// Overwrites a symmetric matrix with its factor L; false if it is not positive definite.
bool factor_in_place(MatrixBlock a);

// Writes (L L^T)^-1, both halves, into `inverse` (n x n), which may not overlap L: 2 n^3 / 3 flops.
void inverse_from_factor(const MatrixView& lower, MatrixBlock inverse);

}  // namespace bapi
