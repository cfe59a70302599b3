#pragma once

#include <map>
#include <string>
#include <vector>

#include "data_set.h"
#include "size.h"

namespace experiments {

enum class Architecture { dense, convolutions, residual };

// One of the paper's tasks 1 to 10.
struct NetworkTask {
  std::string name;
  DataSet data = DataSet::mnist;
  Architecture architecture = Architecture::dense;
  std::vector<int> hidden;                   // dense layers that are not tuned
  std::vector<std::string> hyperparameters;  // what must be given
  SplitSizes sizes;
  bool one_of_each_class = false;  // validates, instead of `sizes`
  bool halved = false;             // images of half the height and width
  bool wide_kernels = false;       // 5 x 5 with pools of 3, not 3 x 3 with pools of 2
  int epoch_examples = 0;          // 0: an epoch is a pass over all
};

std::vector<std::string> network_tasks();

// Throws std::runtime_error that lists the tasks if there is none of that name.
NetworkTask network_task(const std::string& name, Size size);

using Hyperparameters = std::map<std::string, double>;

}  // namespace experiments
