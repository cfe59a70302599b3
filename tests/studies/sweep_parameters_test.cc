#include "bapi/studies/sweep_parameters.h"

#include <gtest/gtest.h>

#include <map>

#include "bapi/study/parameters_file.h"

namespace bapi {
namespace {

using Words = std::vector<std::string>;

// What a study file would read of these parameters of a sweep, by name, and what is said of them.
std::map<std::string, Domain> sweep(const std::string& text, Words& notes) {
  YamlSource source;
  std::string translated;
  for (const SweepParameter& each : sweep_parameters(load_yaml(text, source, "parameters"), notes))
    translated += each.name + ": " + each.domain + "\n";
  YamlSource study;
  const Space space = read_parameters(load_yaml(translated, study, "parameters"));
  std::map<std::string, Domain> domains;
  for (const Param& param : space.params()) domains.emplace(param.name, param.domain);
  return domains;
}

TEST(SweepParameters, NestedParametersGetDottedNames) {
  Words notes;
  const auto domains = sweep(
      "  model: {parameters: {width: {values: [64, 128]}, head: {parameters: {depth: {min: 1, max: 4}}}}}\n"
      "  lr: {min: 0.1, max: 1.0}\n",
      notes);
  ASSERT_EQ(domains.size(), 3u);
  EXPECT_EQ(domains.at("model.head.depth"), Domain(IntRange{.low = 1, .high = 4, .scale = Scale::linear}));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0],
            "parameters.model: not nested any more: its parameters are model.NAME, handed over as --model.NAME VALUE");
}

TEST(SweepParameters, DistributionsWithoutBoundsBecomeRanges) {
  Words notes;
  const auto domains = sweep(
      "  a: {distribution: normal, mu: 0.5, sigma: 0.25}\n"
      "  b: {distribution: log_normal, mu: 0, sigma: 1}\n"
      "  c: {distribution: q_normal, mu: 10, sigma: 2, q: 2}\n"
      "  d: {distribution: q_log_normal, mu: 2, sigma: 1}\n"
      "  e: {distribution: normal}\n",
      notes);
  EXPECT_EQ(domains.at("a"), Domain(RealRange{.low = 0.0, .high = 1.0, .scale = Scale::linear}));
  EXPECT_EQ(domains.at("b"), Domain(RealRange{.low = 0.135335, .high = 7.38906, .scale = Scale::log}));
  EXPECT_EQ(std::get<Choice>(domains.at("c")).options.size(), 5u);  // 6, 8, ..., 14
  EXPECT_EQ(domains.at("d"), Domain(IntRange{.low = 1, .high = 55, .scale = Scale::log}));
  EXPECT_EQ(domains.at("e"), Domain(RealRange{.low = -2.0, .high = 2.0, .scale = Scale::linear}));
  EXPECT_EQ(notes.size(), 5u);
  EXPECT_EQ(notes[0], "parameters.a: normal has no bounds; min and max are two sigma below and above mu");
}

TEST(SweepParameters, WhatOnlyASweepCanSayIsLeftOutAndTold) {
  Words notes;
  const auto domains = sweep(
      "  seed: {values: [1, 2, 3], probabilities: [0.5, 0.25, 0.25]}\n"
      "  batch: {distribution: q_log_uniform_values, min: 16, max: 256, q: 16}\n"
      "  rate: {distribution: q_log_uniform, min: -2, max: -1, q: 0.01}\n"
      "  norm: {min: 0, max: 1}\n",
      notes);
  EXPECT_EQ(std::get<Choice>(domains.at("seed")).options.size(), 3u);
  EXPECT_EQ(domains.at("batch"), Domain(IntRange{.low = 16, .high = 256, .scale = Scale::log}));
  EXPECT_EQ(std::get<RealRange>(domains.at("rate")).scale, Scale::log);
  EXPECT_EQ(domains.at("norm"), Domain(IntRange{.low = 0, .high = 1, .scale = Scale::linear}));
  EXPECT_EQ(notes,
            (Words{"parameters.seed: probabilities: left out; every value is equally likely at first",
                   "parameters.batch: q: 16 left out; any integer between the bounds is tried",
                   "parameters.rate: q: 0.01 left out; any number between the bounds is tried",
                   "parameters.norm: two integers, as in the sweep; with type: real it would be a range"}));
}

TEST(SweepParameters, AllMistakesAreToldWithTheirPlaces) {
  YamlSource source{.file = "sweep.yaml"};
  Words notes;
  try {
    sweep_parameters(
        load_yaml(
            "x: {distribution: beta, a: 1}\ny: {distribution: normal, sigma: -1}\nz: {min: 2}\n", source, "parameters"),
        notes);
    FAIL();
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    for (const char* place : {"sweep.yaml:1:", "sweep.yaml:2:", "sweep.yaml:3:"})
      EXPECT_NE(message.find(place), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace bapi
