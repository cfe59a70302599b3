#pragma once

#include <torch/nn.h>

#include "task.h"

namespace experiments {

// The network of a task for examples of this shape. Its weights come from torch's generator. Throws std::runtime_error
// on a hyperparameter that gives no network.
torch::nn::Sequential make_network(const NetworkTask& task,
                                   const Hyperparameters& given,
                                   const std::array<int, 3>& shape,
                                   int classes);

}  // namespace experiments
