// Trains a convolutional network on small colour images: the training program of study.yaml, in libtorch. train.py is
// the same in Python. What bapi asks of a program is in main(): it continues from its checkpoint directory, keeps a
// checkpoint after every epoch, and reports every epoch.

#include <fmt/format.h>
#include <torch/nn.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
namespace nn = torch::nn;

struct Options {
  fs::path data;
  std::int64_t examples = 2000;  // training images; half as many validate
  double lr = 0.0;
  double momentum = 0.0;
  double l2 = 0.0;
  std::int64_t batch = 0;
  std::int64_t filters = 0;
  std::int64_t dense = 0;
  int epochs = 50;
  std::uint64_t seed = 0;
  fs::path checkpoint;  // directory; none if empty
  int reported = 0;     // epochs that bapi knows already
};

struct Examples {
  torch::Tensor inputs;
  torch::Tensor labels;

  Examples part(std::int64_t begin, std::int64_t end) const {
    return {.inputs = inputs.slice(0, begin, end), .labels = labels.slice(0, begin, end)};
  }
};

// The first `count` records of an IDX file of bytes, gzip'd or not.
torch::Tensor read_idx(const fs::path& path, std::int64_t count) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read; --data names its directory", path.string()));
  const auto read = [&](void* bytes, std::size_t size) {
    if (gzread(file.get(), bytes, static_cast<unsigned>(size)) != static_cast<int>(size)) {
      throw std::runtime_error(fmt::format("{}: ends too early; expected {} examples", path.string(), count));
    }
  };
  std::array<unsigned char, 4> magic{};
  read(magic.data(), magic.size());
  std::vector<std::int64_t> shape;
  for (int i = 0; i < magic[3]; ++i) {
    std::array<unsigned char, 4> word{};
    read(word.data(), word.size());
    shape.push_back(word[0] << 24 | word[1] << 16 | word[2] << 8 | word[3]);
  }
  if (shape.empty()) throw std::runtime_error(fmt::format("{}: not an IDX file", path.string()));
  shape[0] = count;
  const torch::Tensor bytes = torch::empty(shape, torch::kByte);
  read(bytes.data_ptr(), bytes.nbytes());
  return bytes;
}

// Images halved to 16 x 16, each channel with mean 0 and deviation 1.
Examples load_examples(const fs::path& directory, std::int64_t count) {
  const torch::Tensor bytes = read_idx(directory / "train-images-idx4-ubyte.gz", count);
  const torch::Tensor images = torch::avg_pool2d(bytes.to(torch::kFloat), 2);
  const auto mean = images.mean({0, 2, 3}, true);
  const auto deviation = images.std({0, 2, 3}, true, true);
  return {.inputs = (images - mean) / deviation,
          .labels = read_idx(directory / "train-labels-idx1-ubyte.gz", count).to(torch::kLong)};
}

nn::Sequential make_network(const Options& options, std::int64_t side) {
  nn::Sequential network;
  std::int64_t channels = 3;
  for (int i = 0; i < 3; ++i) {
    network->push_back(nn::Conv2d(nn::Conv2dOptions(channels, options.filters, 3).padding(1)));
    network->push_back(nn::ReLU());
    network->push_back(nn::MaxPool2d(2));
    channels = options.filters;
  }
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(channels * (side / 8) * (side / 8), options.dense));
  network->push_back(nn::ReLU());
  network->push_back(nn::Linear(options.dense, 10));
  return network;
}

// Network, momentum and the errors of all epochs so far.
struct Training {
  nn::Sequential network;
  torch::optim::SGD descent;
  std::vector<double> errors = {};

  void train_epoch(const Examples& data, std::int64_t batch, std::uint64_t seed) {
    torch::manual_seed(seed + errors.size() + 1);  // the order depends on the epoch alone, so no generator is kept
    for (const torch::Tensor& rows : torch::randperm(data.labels.size(0), torch::kLong).split(batch)) {
      descent.zero_grad();
      const torch::Tensor scores = network->forward(data.inputs.index_select(0, rows));
      torch::cross_entropy_loss(scores, data.labels.index_select(0, rows)).backward();
      descent.step();
    }
  }

  void validate(const Examples& data) {
    const torch::NoGradGuard no_gradients;
    const torch::Tensor found = network->forward(data.inputs).argmax(1);
    errors.push_back(found.ne(data.labels).to(torch::kDouble).mean().item<double>());
  }

  // Written to another file and renamed, so that a checkpoint is whole at any instant.
  void save(const fs::path& file) {
    torch::serialize::OutputArchive archive;
    network->save(archive);
    torch::serialize::OutputArchive momentum;
    descent.save(momentum);
    archive.write("momentum", momentum);
    archive.write("errors", c10::IValue(errors));
    archive.save_to(file.string() + ".new");
    fs::rename(file.string() + ".new", file);
  }

  void load(const fs::path& file) {
    torch::serialize::InputArchive archive;
    archive.load_from(file.string());
    network->load(archive);
    torch::serialize::InputArchive momentum;
    archive.read("momentum", momentum);
    descent.load(momentum);
    c10::IValue saved;
    archive.read("errors", saved);
    errors = saved.toDoubleVector();
  }
};

void train(const Options& options) {
  at::set_num_threads(1);
  const std::int64_t count = options.examples * 3 / 2;
  const Examples all = load_examples(options.data, count);
  torch::manual_seed(options.seed);
  nn::Sequential network = make_network(options, all.inputs.size(2));
  Training training{.network = network,
                    .descent = torch::optim::SGD(
                        network->parameters(),
                        torch::optim::SGDOptions(options.lr).momentum(options.momentum).weight_decay(options.l2))};
  const fs::path file = options.checkpoint / "state.pt";
  if (fs::exists(file)) training.load(file);
  // A checkpoint is kept before its epoch is reported: what bapi may not have heard is reported again.
  for (int epoch = options.reported + 1; epoch <= options.epochs; ++epoch) {
    if (epoch > static_cast<int>(training.errors.size())) {
      training.train_epoch(all.part(0, options.examples), options.batch, options.seed);
      training.validate(all.part(options.examples, count));
      if (!options.checkpoint.empty()) training.save(file);
    }
    const double error = training.errors[static_cast<std::size_t>(epoch - 1)];
    fmt::print("bapi: {{\"epoch\": {}, \"error\": {}}}\n", epoch, error);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a convolutional network on small colour images and reports its validation error.");
  app.add_option("--data", options.data, "Directory with train-*-ubyte.gz, as IDX files")
      ->envname("BAPI_DATA")
      ->required();
  app.add_option("--examples", options.examples, "Training images; half as many validate")->capture_default_str();
  app.add_option("--lr", options.lr, "Learning rate")->required();
  app.add_option("--momentum", options.momentum, "Momentum")->required();
  app.add_option("--l2", options.l2, "Weight decay")->required();
  app.add_option("--batch", options.batch, "Images per step")->check(CLI::PositiveNumber)->required();
  app.add_option("--filters", options.filters, "Filters of a convolution")->check(CLI::PositiveNumber)->required();
  app.add_option("--dense", options.dense, "Units of the dense layer")->check(CLI::PositiveNumber)->required();
  app.add_option("--epochs", options.epochs, "Last epoch")->envname("BAPI_MAX_EPOCH")->capture_default_str();
  app.add_option("--seed", options.seed, "Random seed")->envname("BAPI_SEED")->capture_default_str();
  app.add_option("--checkpoint", options.checkpoint, "Checkpoint directory")->envname("BAPI_CHECKPOINT_DIR");
  app.add_option("--reported", options.reported, "Epochs that were reported before")->envname("BAPI_FROM_EPOCH");
  CLI11_PARSE(app, argc, argv);
  try {
    train(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_cnn: {}\n", error.what());
    return 2;
  }
  return 0;
}
