#include "bapi/tables/network_surrogate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bapi/base/error.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

// A network with two hidden units and one residual block, small enough to be followed with a pencil.
class NetworkSurrogate : public testing::Test {
 protected:
  NetworkSurrogate() {
    meta_ = {{"x", {"epoch", "rate"}},
             {"y", {"time", "val_accuracy"}},
             {"x_log", {1, 0}},
             {"x_sub", {0.5, 1.0}},
             {"x_div", {2.0, 4.0}},
             {"y_log", {0, 1}},
             {"y_mul", {100.0, 2.0}},
             {"y_add", {3.0, 1.0}},
             {"bn_eps", 0.0},
             {"log_eps", 0.0},
             {"space", {{{"name", "rate"}, {"lower", 1.0}, {"upper", 9.0}}}},
             {"epochs", 3},
             {"tasks", {{"first", 0}, {"second", 1}}},
             {"arrays", nlohmann::json::array()}};
    add("embds_fct.0.weight", {2, 1}, {0.5, -0.25});
    add("first_layer.weight", {2, 3}, {1.0, 2.0, 0.0, 0.0, 0.0, 1.0});
    add("first_layer.bias", {2}, {0.0, 0.5});
    add_norm("layers.0.normalization", {0.5, 0.0}, {4.0, 1.0}, {2.0, 1.0}, {0.0, 0.25});
    add("layers.0.linear0.weight", {4, 2}, {1.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.0});
    add("layers.0.linear0.bias", {4}, {0.0, 0.0, 0.0, 0.125});
    add("layers.0.linear1.weight", {2, 2}, {0.5, 0.0, 0.0, 1.0});
    add("layers.0.linear1.bias", {2}, {0.0, -0.5});
    add_norm("last_normalization", {0.0, 0.0}, {1.0, 1.0}, {1.0, 1.0}, {0.0, 0.0});
    add("head.weight", {2, 2}, {0.25, 0.0, 0.0, 0.5});
    add("head.bias", {2}, {0.0, 0.125});
  }

  void add(const std::string& name, const std::vector<int>& shape, const std::vector<float>& values) {
    meta_["arrays"].push_back({{"name", name}, {"shape", shape}, {"offset", weights_.size()}});
    weights_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }

  void add_norm(const std::string& name,
                const std::vector<float>& mean,
                const std::vector<float>& variance,
                const std::vector<float>& weight,
                const std::vector<float>& bias) {
    add(name + ".running_mean", {2}, mean);
    add(name + ".running_var", {2}, variance);
    add(name + ".weight", {2}, weight);
    add(name + ".bias", {2}, bias);
  }

  std::filesystem::path write() const {
    std::ofstream(dir_.path() / "surrogate.json") << meta_.dump();
    std::ofstream(dir_.path() / "surrogate.weights", std::ios::binary) << weights_;
    return dir_.path() / "surrogate.json";
  }

  std::string refusal(const NetworkTableOptions& options) const {
    try {
      read_network_surrogate(write(), options);
    } catch (const InvalidInput& e) {
      return e.what();
    }
    return "(accepted)";
  }

  struct Output {
    double time;
    double accuracy;
  };

  // The same network, written out.
  static Output by_hand(double embedding, double epoch, double rate) {
    const double s0 = (std::log(epoch) - 0.5) / 2.0;
    const double s1 = (rate - 1.0) / 4.0;
    double h0 = embedding + 2.0 * s0;
    double h1 = s1 + 0.5;
    const double n0 = (h0 - 0.5) / 2.0 * 2.0;
    const double n1 = h1 + 0.25;
    h0 += 0.5 * n0 * std::max(0.0, n0 + n1);
    h1 += n1 * std::max(0.0, -n0 + 0.125) - 0.5;
    const double a = 0.25 * std::max(0.0, h0);
    const double b = 0.5 * std::max(0.0, h1) + 0.125;
    return {.time = 100.0 / (1.0 + std::exp(-a)) + 3.0, .accuracy = std::exp(2.0 / (1.0 + std::exp(-b)) + 1.0)};
  }

  nlohmann::json meta_;
  std::string weights_;
  test::TempDir dir_;
};

TEST_F(NetworkSurrogate, AnswersLikeTheNetworkWrittenOutByHand) {
  const auto any = NetworkTableOptions::Answers::any;
  const double embeddings[] = {0.5, -0.25};
  for (const int task : {0, 1}) {
    const CurveTable table =
        read_network_surrogate(write(), {.task = task == 0 ? "first" : "second", .rows = 4, .answers = any});
    for (const double rate : {1.0, 3.0, 8.5}) {
      const CurveTable::Run run = table.run_of({{rate}});
      double spent = 0.0;
      double time = 0.0;
      for (Epoch t = 1; t <= 3; ++t) {
        const auto at = static_cast<std::size_t>(t) - 1;
        const Output expected = by_hand(embeddings[task], t, rate);
        time = std::max(time, expected.time);
        spent += run.cost[at];
        EXPECT_NEAR(run.value[at], expected.accuracy, 1e-9 * expected.accuracy) << task << ' ' << rate << ' ' << t;
        EXPECT_NEAR(spent, time, 1e-9 * time) << task << ' ' << rate << ' ' << t;
      }
    }
  }
}

TEST_F(NetworkSurrogate, DrawsItsRowsFromTheSpaceByTheSeed) {
  const CurveTable table = read_network_surrogate(write(), {.task = "first", .rows = 20, .seed = 3});
  ASSERT_EQ(table.configs.size(), 20U);
  for (std::size_t i = 0; i < table.configs.size(); ++i) {
    const double rate = std::get<double>(table.configs[i].values[0]);
    EXPECT_GE(rate, 1.0);
    EXPECT_LE(rate, 9.0);
    EXPECT_NEAR(table.runs[i].value[2], by_hand(0.5, 3.0, rate).accuracy, 1e-8);
  }
  EXPECT_EQ(read_network_surrogate(write(), {.task = "first", .rows = 20, .seed = 3}).configs, table.configs);
  EXPECT_NE(read_network_surrogate(write(), {.task = "first", .rows = 20, .seed = 4}).configs, table.configs);
}

TEST_F(NetworkSurrogate, SaysWhatIsWrongWithItsFiles) {
  EXPECT_NE(refusal({.task = "third"}).find("there is no task third; there are first, second"), std::string::npos);
  meta_.erase("y_mul");
  EXPECT_NE(refusal({.task = "first"}).find("y_mul"), std::string::npos);
  weights_.resize(weights_.size() - 1);
  EXPECT_NE(refusal({.task = "first"}).find("the weights end before head.bias"), std::string::npos);
}

TEST_F(NetworkSurrogate, RefusesAnArrayWhosePlaceWrapsAround) {
  // offset + 4 * 4194304 = 2^64: 0 in 64 bits.
  meta_["arrays"].push_back({{"name", "far"}, {"shape", {1, 4194304}}, {"offset", 18446744073692774400U}});
  EXPECT_NE(refusal({.task = "first"}).find("the weights end before far"), std::string::npos);
  meta_["arrays"].back() = {{"name", "large"}, {"shape", {4294967295U, 4294967295U}}, {"offset", 0}};
  EXPECT_NE(refusal({.task = "first"}).find("the weights end before large"), std::string::npos);
  meta_["arrays"].back() = {{"name", "negative"}, {"shape", {-1, -1}}, {"offset", 0}};
  EXPECT_NE(refusal({.task = "first"}).find("shape[0]: found -1"), std::string::npos);
}

TEST_F(NetworkSurrogate, RefusesArraysThatDoNotFitEachOther) {
  // A shape with as many numbers, or fewer, lies within the weights; only its neighbours show that it is wrong.
  const nlohmann::json arrays = meta_["arrays"];
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = arrays[i]["name"].get<std::string>();
    if (name == "embds_fct.0.weight") continue;  // one task fewer is fine, see below
    meta_["arrays"] = arrays;
    meta_["arrays"][i]["shape"] = {1};
    EXPECT_NE(refusal({.task = "first"}).find("surrogate.json: arrays: "), std::string::npos) << name;
  }
  meta_["arrays"] = arrays;
  meta_["arrays"][0]["shape"] = {1, 1};
  EXPECT_EQ(refusal({.task = "first"}), "(accepted)");
  EXPECT_NE(refusal({.task = "second"}).find("tasks.second: found 1"), std::string::npos);
}

TEST_F(NetworkSurrogate, SaysWhichOfItsConstantsIsWrong) {
  const nlohmann::json meta = meta_;
  const std::vector<std::pair<std::string, nlohmann::json>> mistakes = {{"x", {"epoch"}},
                                                                        {"x", {"epoch", "rate", "other"}},
                                                                        {"x", {"epoch", "epoch"}},
                                                                        {"x", 1},
                                                                        {"y", {"time"}},
                                                                        {"y_log", {1}},
                                                                        {"x_sub", {"a", "b"}},
                                                                        {"x_div", nlohmann::json::array()},
                                                                        {"epochs", 0},
                                                                        {"epochs", -3},
                                                                        {"epochs", 1e300},
                                                                        {"epochs", "3"},
                                                                        {"space", {1}},
                                                                        {"tasks", {{"first", "a"}}},
                                                                        {"tasks", {{"first", -1}}},
                                                                        {"arrays", {1}},
                                                                        {"arrays", "a"},
                                                                        {"log_eps", nullptr}};
  for (const auto& [key, value] : mistakes) {
    meta_ = meta;
    meta_[key] = value;
    EXPECT_NE(refusal({.task = "first"}).find("surrogate.json: "), std::string::npos) << key << ' ' << value;
  }
}

}  // namespace
}  // namespace bapi
