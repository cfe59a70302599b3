#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace mlp {

// Columns are points.
struct Samples {
  Eigen::MatrixXd inputs;   // inputs x n
  std::vector<int> labels;  // n
};

struct Data {
  Samples training;
  Samples validation;
  int classes = 0;
};

struct DataOptions {
  int arms = 4;               // one class each
  double turns = 2.0;         // of an arm around the centre
  double jitter = 0.02;       // standard deviation across an arm of length 1
  double mislabelled = 0.02;  // share of the points
  int inputs = 16;            // the plane of the spirals lies in a space of this many dimensions
  double noise = 0.06;        // standard deviation in each of them
  int training = 24000;       // points
  int validation = 2000;
};

// Interleaved spirals with noise: a network that is too small, too impatient or too cautious does not untangle them.
Data make_spirals(const DataOptions& options, std::uint64_t seed);

}  // namespace mlp
