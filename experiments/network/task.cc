#include "task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace experiments {
namespace {

constexpr double kCifarShare = 0.2;  // 10,000 of 50,000
constexpr double kSvhnShare = 10000.0 / 73257.0;
constexpr double kFullShare = 1.0 / 6.0;  // 10,000 of 60,000

SplitSizes sizes(Size size, SplitSizes small, SplitSizes medium, SplitSizes paper) {
  return size == Size::small ? small : size == Size::medium ? medium : paper;
}

NetworkTask logistic_regression(Size size) {
  return {.name = "logreg-mnist",
          .data = DataSet::mnist,
          .hidden = {},
          .hyperparameters = {"lr", "l2", "batch"},
          .sizes = sizes(size, {5000, 1000}, {14000, 3500}, {56000, 7000})};
}

NetworkTask faces() {
  return {.name = "mlp-olivetti",
          .data = DataSet::olivetti,
          .hidden = {256, 256},
          .hyperparameters = {"lr", "batch", "l2", "momentum"},
          .sizes = {},
          .one_of_each_class = true};
}

NetworkTask forest(Size size) {
  return {.name = "mlp-covtype",
          .data = DataSet::covtype,
          .hidden = {256, 256},
          .hyperparameters = {"lr", "batch", "l2", "momentum"},
          .sizes = sizes(size, {4000, 1000}, {6000, 2000}, {0, 0, 0.1})};
}

NetworkTask fully_connected(Size size) {
  return {.name = "fcnet-mnist",
          .data = DataSet::mnist_train,
          .hidden = {},
          .hyperparameters = {"lr", "batch", "l2", "momentum", "layers", "units"},
          .sizes = sizes(size, {2000, 1000}, {4000, 2000}, {0, 0, kFullShare})};
}

NetworkTask convolutions(const std::string& name, DataSet data, double valid_share, Size size) {
  return {.name = name,
          .data = data,
          .architecture = Architecture::convolutions,
          .hidden = {},
          .hyperparameters = {"batch", "lr", "momentum", "l2", "filters", "dense"},
          .sizes = sizes(size, {1000, 500}, {2000, 1000}, {0, 0, valid_share}),
          .halved = size != Size::paper,
          .wide_kernels = size == Size::paper};
}

NetworkTask residual(const std::string& name, DataSet data, Size size) {
  return {.name = name,
          .data = data,
          .architecture = Architecture::residual,
          .hidden = {},
          .hyperparameters = {"batch", "lr", "momentum", "l2", "filters", "layers"},
          .sizes = sizes(size, {1000, 500}, {4000, 500}, {0, 0, kCifarShare}),
          .halved = size != Size::paper,
          .epoch_examples = size == Size::medium ? 1000 : 0};
}

std::vector<NetworkTask> all_tasks(Size size) {
  return {logistic_regression(size),
          faces(),
          forest(size),
          fully_connected(size),
          convolutions("cnn-cifar10", DataSet::cifar10, kCifarShare, size),
          convolutions("cnn-svhn", DataSet::svhn, kSvhnShare, size),
          residual("resnet-cifar10", DataSet::cifar10, size),
          residual("resnet-cifar100", DataSet::cifar100, size)};
}

}  // namespace

std::vector<std::string> network_tasks() {
  std::vector<std::string> names;
  for (const NetworkTask& task : all_tasks(Size::small)) names.push_back(task.name);
  return names;
}

NetworkTask network_task(const std::string& name, Size size) {
  for (NetworkTask& task : all_tasks(size)) {
    if (task.name == name) return std::move(task);
  }
  throw std::runtime_error(fmt::format("{}: no such task; expected one of {}", name, fmt::join(network_tasks(), ", ")));
}

}  // namespace experiments
