#pragma once

#include "bapi/kernel/rows.h"

namespace bapi::test {

// Every row moved along one coordinate of x, for derivatives by differences.
inline Rows moved(Rows rows, Eigen::Index coordinate, double by) {
  rows.x.col(coordinate).array() += by;
  return rows;
}

}  // namespace bapi::test
