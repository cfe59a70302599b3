#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "generator.h"
#include "scratch.h"

namespace experiments {

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

inline std::string idx_bytes(const std::vector<std::size_t>& sizes, const std::string& data) {
  std::string bytes = {0, 0, 8, static_cast<char>(sizes.size())};
  for (const std::size_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xff);
  }
  return bytes + data;
}

// `count` images of the given size; each is bright where its class says, so that classes can be told apart.
inline std::string class_pixels(std::size_t count, std::size_t size, std::size_t classes) {
  Generator generator{.state = 3};
  std::string pixels;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const bool bright = j % classes == i % classes;
      pixels += static_cast<char>((bright ? 180 : 0) + generator.below(60));
    }
  }
  return pixels;
}

inline std::string class_labels(std::size_t count, std::size_t classes) {
  std::string labels;
  for (std::size_t i = 0; i < count; ++i) labels += static_cast<char>(i % classes);
  return labels;
}

// Every data set at a size of `count` examples (80 faces), in the formats of the real ones.
inline void write_tiny_data(const std::filesystem::path& root, std::size_t count) {
  const auto write_images =
      [&](const std::string& images, const std::string& labels, std::vector<std::size_t> sizes, std::size_t classes) {
        std::size_t size = 1;
        for (std::size_t i = 1; i < sizes.size(); ++i) size *= sizes[i];
        write_bytes(root / images, idx_bytes(sizes, class_pixels(sizes[0], size, classes)));
        write_bytes(root / labels, idx_bytes({sizes[0]}, class_labels(sizes[0], classes)));
      };
  write_images("mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte", {count, 28, 28}, 10);
  write_images("mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte", {10, 28, 28}, 10);
  write_images("olivetti/faces-idx3-ubyte", "olivetti/subjects-idx1-ubyte", {80, 64, 64}, 40);
  write_images("svhn/train-images-idx4-ubyte", "svhn/train-labels-idx1-ubyte", {count, 3, 32, 32}, 10);
  write_images("cifar10/train-images-idx4-ubyte", "cifar10/train-labels-idx1-ubyte", {count, 3, 32, 32}, 10);
  std::string cifar100;
  for (std::size_t i = 0; i < count; ++i) {
    cifar100 += static_cast<char>(0);
    cifar100 += static_cast<char>(i % 100);
    cifar100 += class_pixels(1, 3 * 32 * 32, 10);
  }
  write_bytes(root / "cifar100/train.bin", cifar100);
  std::string rows;
  Generator generator{.state = 4};
  for (std::size_t i = 0; i < count; ++i) {
    for (int j = 0; j < 10; ++j) rows += std::to_string(generator.below(3000)) + ",";
    for (int j = 0; j < 44; ++j) rows += j % 7 == static_cast<int>(i % 7) ? "1," : "0,";
    rows += std::to_string(i % 7 + 1) + "\n";
  }
  write_bytes(root / "covtype/covtype.data", rows);
}

}  // namespace experiments
