#include "network_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models.h"
#include "resumable.h"

namespace experiments {
namespace {

using torch::indexing::Slice;

// v = momentum v + gradient + l2 w, w = w - lr v for every weight w. Written out, because torch's own optimiser keeps
// its state in arbitrary order.
class MomentumDescent {
 public:
  MomentumDescent(std::vector<torch::Tensor> weights, double rate, double momentum, double l2)
      : weights_(std::move(weights)), rate_(rate), momentum_(momentum), l2_(l2) {
    for (const torch::Tensor& weight : weights_) velocity_.push_back(torch::zeros_like(weight));
  }

  void step() {
    const torch::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      torch::Tensor& weight = weights_[i];
      velocity_[i].mul_(momentum_).add_(weight.grad()).add_(weight, l2_);
      weight.sub_(velocity_[i], rate_);
      weight.mutable_grad().reset();
    }
  }

  const std::vector<torch::Tensor>& state() const { return velocity_; }

 private:
  std::vector<torch::Tensor> weights_;
  std::vector<torch::Tensor> velocity_;
  double rate_;
  double momentum_;
  double l2_;
};

struct LabelledTensors {
  torch::Tensor inputs;
  torch::Tensor labels;
};

LabelledTensors tensors_of(Examples& examples) {
  const auto count = static_cast<std::int64_t>(examples.count());
  return {.inputs = torch::from_blob(examples.inputs.data(),
                                     {count, examples.shape[0], examples.shape[1], examples.shape[2]},
                                     torch::kFloat)
                        .clone(),
          .labels = torch::from_blob(examples.labels.data(), {count}, torch::kLong).clone()};
}

struct PreparedData {
  LabelledTensors train;
  LabelledTensors valid;
  std::array<int, 3> shape;
  int classes;
};

PreparedData prepare(const NetworkTask& task, const std::filesystem::path& directory) {
  const Examples all = load(task.data, directory);
  const Split parts = task.one_of_each_class ? split_by_class(all.labels) : split(all.count(), task.sizes);
  Examples train = select(all, parts.train);
  Examples valid = select(all, parts.valid);
  if (task.halved) {
    train = halved(train);
    valid = halved(valid);
  }
  standardise(train, valid);
  return {
      .train = tensors_of(train), .valid = tensors_of(valid), .shape = train.shape, .classes = class_count(task.data)};
}

class NetworkLearner : public Learner {
 public:
  explicit NetworkLearner(const NetworkTrial& trial)
      : seed_(trial.settings.seed), data_(prepare(trial.task, trial.data)) {
    const Hyperparameters& given = trial.hyperparameters;
    batch_ = static_cast<std::int64_t>(given.at("batch"));
    if (batch_ < 1) throw std::runtime_error("--batch: expected a whole number from 1");
    epoch_examples_ = trial.task.epoch_examples == 0
                          ? data_.train.labels.size(0)
                          : std::min<std::int64_t>(trial.task.epoch_examples, data_.train.labels.size(0));
    torch::manual_seed(seed_);
    network_ = make_network(trial.task, given, data_.shape, data_.classes);
    const double momentum = given.contains("momentum") ? given.at("momentum") : 0.0;
    descent_.emplace(network_->parameters(), given.at("lr"), momentum, given.at("l2"));
  }

  std::vector<double> train_epoch(int epoch) override {
    const double loss = train_examples(epoch);
    return {std::isfinite(loss) ? validation_error() : std::nan(""), loss};
  }

  ReportFields report_fields(std::span<const std::vector<double>> epochs) override {
    return {{"error", epochs.back()[0]}, {"loss", epochs.back()[1]}};
  }

  void save(ArchiveWriter& archive) override {
    for (const torch::Tensor& tensor : state()) {
      const torch::Tensor whole = tensor.contiguous();
      archive(std::string(static_cast<const char*>(whole.data_ptr()), whole.nbytes()));
    }
  }

  void load(ArchiveReader& archive) override {
    const torch::NoGradGuard no_gradients;
    for (torch::Tensor& tensor : state()) {
      std::string bytes;
      archive(bytes);
      if (bytes.size() != tensor.nbytes()) throw std::runtime_error("it belongs to another network");
      const torch::Tensor stored = torch::empty(tensor.sizes(), tensor.options());
      std::memcpy(stored.data_ptr(), bytes.data(), bytes.size());
      tensor.copy_(stored);
    }
  }

 private:
  // Everything that an epoch changes. Nothing random: the order of a pass is drawn from the seed and its number.
  std::vector<torch::Tensor> state() const {
    std::vector<torch::Tensor> tensors = network_->parameters();
    for (const torch::Tensor& buffer : network_->buffers()) tensors.push_back(buffer);
    for (const torch::Tensor& velocity : descent_->state()) tensors.push_back(velocity);
    return tensors;
  }

  // The examples of the epoch: all of them, or its part of a pass.
  torch::Tensor order_of(int epoch) const {
    const std::int64_t count = data_.train.labels.size(0);
    const std::int64_t parts = count / epoch_examples_;
    const std::int64_t pass = (epoch - 1) / parts;
    const std::int64_t begin = (epoch - 1) % parts * epoch_examples_;
    const std::vector<std::size_t> order =
        shuffled(static_cast<std::size_t>(count), seed_, static_cast<std::uint64_t>(pass));
    std::vector<std::int64_t> part(order.begin() + begin, order.begin() + begin + epoch_examples_);
    return torch::from_blob(part.data(), {epoch_examples_}, torch::kLong).clone();
  }

  double train_examples(int epoch) {
    network_->train();
    const torch::Tensor order = order_of(epoch);
    torch::Tensor sum = torch::zeros({}, torch::kDouble);
    for (std::int64_t begin = 0; begin < epoch_examples_; begin += batch_) {
      const torch::Tensor which = order.index({Slice(begin, std::min(begin + batch_, epoch_examples_))});
      const torch::Tensor scores = network_->forward(data_.train.inputs.index_select(0, which));
      const torch::Tensor loss = torch::cross_entropy_loss(scores, data_.train.labels.index_select(0, which));
      loss.backward();
      descent_->step();
      sum += loss.detach() * which.size(0);
    }
    return sum.item<double>() / static_cast<double>(epoch_examples_);
  }

  double validation_error() {
    const torch::NoGradGuard no_gradients;
    network_->eval();
    constexpr std::int64_t kAtOnce = 500;
    const std::int64_t count = data_.valid.labels.size(0);
    std::int64_t wrong = 0;
    for (std::int64_t begin = 0; begin < count; begin += kAtOnce) {
      const Slice which(begin, std::min(begin + kAtOnce, count));
      const torch::Tensor found = network_->forward(data_.valid.inputs.index({which})).argmax(1);
      wrong += found.ne(data_.valid.labels.index({which})).sum().item<std::int64_t>();
    }
    return static_cast<double>(wrong) / static_cast<double>(count);
  }

  std::uint64_t seed_;
  PreparedData data_;
  std::int64_t batch_ = 1;
  std::int64_t epoch_examples_ = 0;
  torch::nn::Sequential network_ = nullptr;
  std::optional<MomentumDescent> descent_;
};

std::string checkpoint_owner(const NetworkTrial& trial) {
  std::string owner = fmt::format(
      "network 1, {}, size {}, seed {}", trial.task.name, static_cast<int>(trial.size), trial.settings.seed);
  for (const auto& [name, value] : trial.hyperparameters) owner += fmt::format(", {} {}", name, value);
  return owner;
}

}  // namespace

void train(const NetworkTrial& trial) {
  at::set_num_threads(1);
  // Weights that decay towards 0 become numbers that processors calculate with a hundred times slower.
  at::globalContext().setFlushDenormal(true);
  NetworkLearner learner(trial);
  run_training(learner, checkpoint_owner(trial), trial.settings, "network");
}

double matrix_product_seconds() {
  at::set_num_threads(1);
  const torch::Tensor matrix = torch::ones({256, 256});
  double least = INFINITY;
  for (int i = 0; i < 4; ++i) {
    const double begin = processor_seconds();
    torch::mm(matrix, matrix);
    least = std::min(least, processor_seconds() - begin);
  }
  return least;
}

}  // namespace experiments
