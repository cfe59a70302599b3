#include "data_set.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "task.h"
#include "tiny_data.h"

namespace experiments {
namespace {

TEST(DataSets, EverySetLoadsWithItsShape) {
  const ScratchDirectory scratch;
  write_tiny_data(scratch.path(), 64);
  const auto shape = [&](DataSet data) { return load(data, scratch.path()).shape; };
  EXPECT_EQ(shape(DataSet::mnist), (std::array<int, 3>{1, 28, 28}));
  EXPECT_EQ(shape(DataSet::olivetti), (std::array<int, 3>{1, 64, 64}));
  EXPECT_EQ(shape(DataSet::covtype), (std::array<int, 3>{54, 1, 1}));
  for (const DataSet data : {DataSet::cifar10, DataSet::cifar100, DataSet::svhn}) {
    EXPECT_EQ(shape(data), (std::array<int, 3>{3, 32, 32}));
  }
  EXPECT_EQ(load(DataSet::mnist, scratch.path()).count(), 74U);
  EXPECT_EQ(load(DataSet::mnist_train, scratch.path()).count(), 64U);
}

TEST(DataSets, BinaryCifarEqualsTheSameImagesAsIdx) {
  const ScratchDirectory idx;
  const ScratchDirectory binary;
  const std::string pixels = class_pixels(5, 3072, 10);
  write_bytes(idx.path() / "cifar10/train-images-idx4-ubyte", idx_bytes({5, 3, 32, 32}, pixels));
  write_bytes(idx.path() / "cifar10/train-labels-idx1-ubyte", idx_bytes({5}, class_labels(5, 10)));
  for (int i = 0; i < 5; ++i) {
    write_bytes(binary.path() / ("cifar10/data_batch_" + std::to_string(i + 1) + ".bin"),
                static_cast<char>(i) + pixels.substr(static_cast<std::size_t>(i) * 3072, 3072));
  }
  const Examples a = load(DataSet::cifar10, idx.path());
  const Examples b = load(DataSet::cifar10, binary.path());
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.labels, b.labels);
}

TEST(DataSets, MissingDataNameTheirFilesAndSource) {
  const ScratchDirectory scratch;
  const std::map<DataSet, std::vector<std::string>> expected = {
      {DataSet::mnist, {"/mnist", "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"}},
      {DataSet::mnist_train, {"/mnist", "train-images-idx3-ubyte", "train-labels-idx1-ubyte"}},
      {DataSet::olivetti, {"/olivetti", "faces-idx3-ubyte", "subjects-idx1-ubyte", "to_idx.py"}},
      {DataSet::covtype, {"/covtype", "covtype.csv", "covtype.data"}},
      {DataSet::cifar10, {"/cifar10", "train-images-idx4-ubyte", "train-labels-idx1-ubyte", "data_batch_5.bin"}},
      {DataSet::cifar100, {"/cifar100", "train.bin"}},
      {DataSet::svhn, {"/svhn", "train-images-idx4-ubyte", "train-labels-idx1-ubyte", "to_idx.py"}}};
  for (const auto& [data, parts] : expected) {
    try {
      load(data, scratch.path());
      FAIL() << parts.front() << ": there are no files";
    } catch (const MissingData& error) {
      const std::string text = error.what();
      for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
      EXPECT_NE(text.find("Get them from http"), std::string::npos) << text;
    }
  }
}

TEST(DataSets, ClassesThatTheSetDoesNotHaveAreRefused) {
  const ScratchDirectory scratch;
  write_bytes(scratch.path() / "svhn/train-images-idx4-ubyte", idx_bytes({1, 3, 2, 2}, "abcdefghijkl"));
  write_bytes(scratch.path() / "svhn/train-labels-idx1-ubyte", idx_bytes({1}, "\x0a"));
  EXPECT_THROW(load(DataSet::svhn, scratch.path()), std::runtime_error);
}

TEST(Split, IsDisjointAndTheSameOnEveryCall) {
  const Split first = split(100, {.train = 60, .valid = 30});
  const Split second = split(100, {.train = 60, .valid = 30});
  EXPECT_EQ(first.train, second.train);
  EXPECT_EQ(first.valid, second.valid);
  std::set<std::size_t> seen(first.train.begin(), first.train.end());
  seen.insert(first.valid.begin(), first.valid.end());
  EXPECT_EQ(seen.size(), 90U);
  EXPECT_LT(*seen.rbegin(), 100U);
}

TEST(Split, TakesAllThereAreByItsShare) {
  const Split parts = split(50, {.train = 0, .valid = 0, .valid_share = 0.2});
  EXPECT_EQ(parts.train.size(), 40U);
  EXPECT_EQ(parts.valid.size(), 10U);
  EXPECT_THROW(split(50, {.train = 50, .valid = 1}), std::runtime_error);
}

TEST(Split, OneFaceOfEverySubjectValidates) {
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 400; ++i) labels.push_back(i / 10);
  const Split parts = split_by_class(labels);
  ASSERT_EQ(parts.valid.size(), 40U);
  EXPECT_EQ(parts.train.size(), 360U);
  std::set<std::int64_t> subjects;
  for (const std::size_t i : parts.valid) subjects.insert(labels[i]);
  EXPECT_EQ(subjects.size(), 40U);
}

TEST(Examples, HalvedImagesAreMeans) {
  const Examples image{.shape = {1, 2, 4}, .inputs = {1, 2, 3, 4, 5, 6, 7, 8}, .labels = {0}};
  EXPECT_EQ(halved(image).inputs, (std::vector<float>{3.5F, 5.5F}));
  EXPECT_EQ(halved(image).shape, (std::array<int, 3>{1, 1, 2}));
}

TEST(Examples, StandardisedNumbersHaveMean0AndDeviation1AndFlagsStay) {
  Examples train{.shape = {2, 1, 1}, .inputs = {10, 0, 20, 1, 30, 1}, .labels = {0, 1, 0}};
  Examples valid{.shape = {2, 1, 1}, .inputs = {20, 0}, .labels = {1}};
  standardise(train, valid);
  EXPECT_NEAR(train.inputs[0] + train.inputs[2] + train.inputs[4], 0.0, 1e-6);
  EXPECT_NEAR(train.inputs[0] * train.inputs[0] + train.inputs[4] * train.inputs[4], 3.0, 1e-5);
  EXPECT_EQ(train.inputs[3], 1.0F);
  EXPECT_NEAR(valid.inputs[0], 0.0, 1e-6);
}

TEST(Tasks, EveryTaskHasEverySize) {
  for (const std::string& name : network_tasks()) {
    for (const Size size : {Size::small, Size::medium, Size::paper}) EXPECT_EQ(network_task(name, size).name, name);
  }
  EXPECT_THROW(network_task("cnn", Size::small), std::runtime_error);
}

}  // namespace
}  // namespace experiments
