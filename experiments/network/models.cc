#include "models.h"

#include <fmt/format.h>

#include <cmath>

namespace experiments {
namespace {

namespace nn = torch::nn;

int whole(const Hyperparameters& given, const std::string& name, int least) {
  const double value = given.at(name);
  if (value != std::floor(value) || value < least || value > 1e6) {
    throw std::runtime_error(fmt::format("--{} {}: expected a whole number from {}", name, value, least));
  }
  return static_cast<int>(value);
}

nn::Sequential dense_network(std::vector<int> hidden, int inputs, int classes) {
  nn::Sequential network;
  network->push_back(nn::Flatten());
  for (const int units : hidden) {
    network->push_back(nn::Linear(inputs, units));
    network->push_back(nn::ReLU());
    inputs = units;
  }
  network->push_back(nn::Linear(inputs, classes));
  return network;
}

// Three times convolution, ReLU and pooling, which halves the image; then one dense layer.
nn::Sequential convolutional_network(int filters, int dense, const std::array<int, 3>& shape, int classes, bool wide) {
  nn::Sequential network;
  auto [channels, height, width] = shape;
  const int kernel = wide ? 5 : 3;
  for (int i = 0; i < 3; ++i) {
    network->push_back(nn::Conv2d(nn::Conv2dOptions(channels, filters, kernel).padding(kernel / 2)));
    network->push_back(nn::ReLU());
    network->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(wide ? 3 : 2).stride(2).padding(wide ? 1 : 0)));
    channels = filters;
    height /= 2;
    width /= 2;
  }
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(filters * height * width, dense));
  network->push_back(nn::ReLU());
  network->push_back(nn::Linear(dense, classes));
  return network;
}

nn::Conv2d convolution(int from, int to, int kernel, int stride) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// Two convolutions with batch normalisation beside a shortcut (He et al. 2016).
class BasicBlock : public nn::Module {
 public:
  BasicBlock(int from, int to, int stride)
      : first_(register_module("first", convolution(from, to, 3, stride))),
        first_norm_(register_module("first_norm", nn::BatchNorm2d(to))),
        second_(register_module("second", convolution(to, to, 3, 1))),
        second_norm_(register_module("second_norm", nn::BatchNorm2d(to))) {
    if (from != to || stride != 1) {
      shortcut_ = register_module("shortcut", nn::Sequential(convolution(from, to, 1, stride), nn::BatchNorm2d(to)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = second_norm_(second_(torch::relu(first_norm_(first_(x)))));
    return torch::relu(inner + (shortcut_.is_empty() ? x : shortcut_->forward(x)));
  }

 private:
  nn::Conv2d first_;
  nn::BatchNorm2d first_norm_;
  nn::Conv2d second_;
  nn::BatchNorm2d second_norm_;
  nn::Sequential shortcut_ = nullptr;
};

// layers = 2 + twice the number of blocks. The blocks are dealt to the four stages in turn, the first stage first.
nn::Sequential residual_network(int filters, int layers, int channels, int classes) {
  constexpr int kStages = 4;
  if (layers < 2 + 2 * kStages || layers % 2 != 0) {
    throw std::runtime_error(fmt::format("--layers {}: expected an even number from 10", layers));
  }
  const int blocks = (layers - 2) / 2;
  nn::Sequential network(convolution(channels, filters, 3, 1), nn::BatchNorm2d(filters), nn::ReLU());
  int from = filters;
  for (int stage = 0; stage < kStages; ++stage) {
    const int to = filters << stage;
    const int count = blocks / kStages + (stage < blocks % kStages ? 1 : 0);
    for (int i = 0; i < count; ++i) {
      network->push_back(BasicBlock(from, to, i == 0 && stage > 0 ? 2 : 1));
      from = to;
    }
  }
  network->push_back(nn::AdaptiveAvgPool2d(1));
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(from, classes));
  return network;
}

}  // namespace

nn::Sequential make_network(const NetworkTask& task,
                            const Hyperparameters& given,
                            const std::array<int, 3>& shape,
                            int classes) {
  switch (task.architecture) {
    case Architecture::convolutions:
      return convolutional_network(
          whole(given, "filters", 1), whole(given, "dense", 1), shape, classes, task.wide_kernels);
    case Architecture::residual:
      return residual_network(whole(given, "filters", 1), whole(given, "layers", 1), shape[0], classes);
    case Architecture::dense:
      break;
  }
  std::vector<int> hidden = task.hidden;
  if (given.contains("layers")) {
    hidden.assign(static_cast<std::size_t>(whole(given, "layers", 1)), whole(given, "units", 1));
  }
  return dense_network(hidden, shape[0] * shape[1] * shape[2], classes);
}

}  // namespace experiments
