#pragma once

#include <Eigen/Core>

namespace bapi {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

}  // namespace bapi
