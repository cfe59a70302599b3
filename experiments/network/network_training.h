#pragma once

#include "task.h"
#include "trial.h"

namespace experiments {

struct NetworkTrial {
  NetworkTask task;
  Size size = Size::medium;
  Hyperparameters hyperparameters;
  std::filesystem::path data;
  TrialSettings settings;
};

// Trains by stochastic gradient descent with momentum, weight decay l2, a constant learning rate and cross entropy, on
// one thread. Reports `error`, the share of the validation examples that are classified wrongly, and `loss`, the mean
// over the examples of the epoch; an epoch whose loss is not finite has the error NaN. Checkpoints and reports are
// those of run_training. Throws std::runtime_error, and MissingData.
void train(const NetworkTrial& trial);

// Processor seconds of a product of two 256 x 256 matrices, the least of several: 0.001 with OpenBLAS, 0.02 with the
// reference BLAS, which makes dense layers 12 times slower.
double matrix_product_seconds();

}  // namespace experiments
