#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace experiments {

enum class DataSet { mnist, mnist_train, olivetti, covtype, cifar10, cifar100, svhn };

// Labelled examples; images as channels x height x width with values from 0 to 1, rows of numbers as so many channels.
struct Examples {
  std::array<int, 3> shape{};
  std::vector<float> inputs;  // one example after the other
  std::vector<std::int64_t> labels;

  std::size_t count() const { return labels.size(); }
  std::size_t width() const { return static_cast<std::size_t>(shape[0]) * shape[1] * shape[2]; }
};

// The files of a data set are not there. Its message names them and where people get them.
struct MissingData : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int class_count(DataSet data);

// Reads the data set from its folder in `directory` (mnist/, olivetti/, covtype/, cifar10/, cifar100/, svhn/); the
// files may be packed with gzip. Throws MissingData, or std::runtime_error for a damaged file.
Examples load(DataSet data, const std::filesystem::path& directory);

// How many examples to train and to validate with: a number, or 0 for all there are, of which `valid_share` validate.
struct SplitSizes {
  int train = 0;
  int valid = 0;
  double valid_share = 0.1;
};

struct Split {
  std::vector<std::size_t> train;
  std::vector<std::size_t> valid;
};

// Disjoint, in random order, and the same on every call. Throws std::runtime_error if there are too few examples.
Split split(std::size_t count, const SplitSizes& sizes);

// One example of every class, chosen at random but always the same, validates.
Split split_by_class(const std::vector<std::int64_t>& labels);

Examples select(const Examples& all, const std::vector<std::size_t>& which);

// Images of half the height and width: the means of 2 x 2 pixels.
Examples halved(const Examples& examples);

// Gives every channel of the training examples mean 0 and deviation 1, except those that hold only 0 and 1, and does to
// the others what it did to these.
void standardise(Examples& train, Examples& valid);

// An order of 0 .. count - 1 that depends on `seed` and `pass` alone.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t pass);

}  // namespace experiments
