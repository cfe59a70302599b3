#include "bapi/tables/network_surrogate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/nearest.h"
#include "bapi/math/types.h"

namespace bapi {
namespace {

using Json = nlohmann::json;

// Scaling of one input or output: (log(v) - sub) / div, or its inverse.
struct Scaling {
  std::vector<bool> log;
  Vector offset;
  Vector factor;
};

Scaling scaling_of(const Json& meta, const char* log, const char* offset, const char* factor) {
  Scaling scaling;
  for (const Json& flag : meta.at(log)) scaling.log.push_back(flag.get<int>() != 0);
  const auto offsets = meta.at(offset).get<std::vector<double>>();
  const auto factors = meta.at(factor).get<std::vector<double>>();
  scaling.offset = Vector::Map(offsets.data(), std::ssize(offsets));
  scaling.factor = Vector::Map(factors.data(), std::ssize(factors));
  return scaling;
}

// The residual network: an embedding of the task beside the scaled inputs, three gated residual blocks, a sigmoid head.
class Network {
 public:
  Network(const Json& meta, const std::string& weights) : meta_(meta) {
    for (const Json& array : meta.at("arrays")) {
      const auto shape = array.at("shape").get<std::vector<Eigen::Index>>();
      const Eigen::Index rows = shape.at(0);
      const Eigen::Index columns = shape.size() > 1 ? shape[1] : 1;
      const auto offset = array.at("offset").get<std::size_t>();
      const auto name = array.at("name").get<std::string>();
      const auto count = static_cast<std::size_t>(rows * columns);
      require(offset + count * sizeof(float) <= weights.size(), fmt::format("the weights end before {}", name));
      std::vector<float> values(count);
      std::memcpy(values.data(), weights.data() + offset, count * sizeof(float));
      Matrix matrix(rows, columns);
      for (Eigen::Index i = 0; i < rows; ++i) {
        for (Eigen::Index j = 0; j < columns; ++j) matrix(i, j) = values[static_cast<std::size_t>(i * columns + j)];
      }
      arrays_.emplace(name, std::move(matrix));
    }
    in_ = scaling_of(meta, "x_log", "x_sub", "x_div");
    out_ = scaling_of(meta, "y_log", "y_add", "y_mul");
    log_epsilon_ = meta.at("log_eps").get<double>();
    bn_epsilon_ = meta.at("bn_eps").get<double>();
  }

  // Inputs as columns in the order of meta["x"]; outputs as columns in the order of meta["y"].
  Matrix operator()(const Matrix& inputs, Eigen::Index task) const {
    const Matrix& embeddings = at("embds_fct.0.weight");
    Matrix features(embeddings.cols() + inputs.rows(), inputs.cols());
    features.topRows(embeddings.cols()).colwise() = Vector(embeddings.row(task).transpose());
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      Eigen::ArrayXd v = inputs.row(i).transpose().array();
      if (in_.log[static_cast<std::size_t>(i)]) v = (v + log_epsilon_).log();
      features.row(embeddings.cols() + i) = ((v - in_.offset[i]) / in_.factor[i]).matrix().transpose();
    }
    Matrix h = linear("first_layer", features);
    for (int block = 0; arrays_.contains(fmt::format("layers.{}.linear0.weight", block)); ++block) {
      const std::string layer = fmt::format("layers.{}", block);
      const Matrix u = linear(layer + ".linear0", normalised(norm_of(layer), h));
      const Eigen::Index half = u.rows() / 2;
      h += linear(layer + ".linear1", (u.topRows(half).array() * u.bottomRows(half).array().max(0.0)).matrix());
    }
    const Matrix last = normalised("last_normalization", h).array().max(0.0).matrix();
    Matrix y = (1.0 / (1.0 + (-linear("head", last).array()).exp())).matrix();
    for (Eigen::Index i = 0; i < y.rows(); ++i) {
      Eigen::ArrayXd v = y.row(i).transpose().array() * out_.factor[i] + out_.offset[i];
      if (out_.log[static_cast<std::size_t>(i)]) v = v.exp() - log_epsilon_;
      y.row(i) = v.matrix().transpose();
    }
    return y;
  }

 private:
  const Matrix& at(const std::string& name) const {
    const auto found = arrays_.find(name);
    require(found != arrays_.end(), fmt::format("the network has no array {}", name));
    return found->second;
  }

  // The block's normalisation, whatever it is called.
  std::string norm_of(const std::string& layer) const {
    for (const char* name : {".normalization", ".norm", ".bn"}) {
      if (arrays_.contains(layer + name + ".weight")) return layer + name;
    }
    throw InvalidInput(fmt::format("the network has no normalisation for {}", layer));
  }

  Matrix linear(const std::string& name, const Matrix& z) const {
    return (at(name + ".weight") * z).colwise() + Vector(at(name + ".bias").col(0));
  }

  Matrix normalised(const std::string& name, const Matrix& z) const {
    const Vector mean = at(name + ".running_mean").col(0);
    const Vector scale =
        at(name + ".weight").col(0).array() / (at(name + ".running_var").col(0).array() + bn_epsilon_).sqrt();
    return (scale.asDiagonal() * (z.colwise() - mean)).colwise() + Vector(at(name + ".bias").col(0));
  }

  Json meta_;
  std::map<std::string, Matrix> arrays_;
  Scaling in_;
  Scaling out_;
  double log_epsilon_ = 0.0;
  double bn_epsilon_ = 0.0;
};

Space space_of(const Json& list) {
  std::vector<Param> params;
  for (const Json& p : list) {
    const Scale scale = p.value("scale", "linear") == "log" ? Scale::log : Scale::linear;
    const auto name = p.at("name").get<std::string>();
    if (p.value("type", "float") == "int") {
      params.push_back(
          {.name = name,
           .domain = IntRange{
               .low = p.at("lower").get<std::int64_t>(), .high = p.at("upper").get<std::int64_t>(), .scale = scale}});
    } else {
      params.push_back({.name = name,
                        .domain = RealRange{
                            .low = p.at("lower").get<double>(), .high = p.at("upper").get<double>(), .scale = scale}});
    }
  }
  return Space(std::move(params));
}

double number(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

std::size_t position(const Json& names, const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  throw InvalidInput(fmt::format("the network has no {}", name));
}

// Trains a configuration in the network's imagination.
class Oracle {
 public:
  Oracle(Network network, const Json& meta, const Space& space, Eigen::Index task)
      : network_(std::move(network)), task_(task), epochs_(meta.at("epochs").get<Epoch>()) {
    epoch_row_ = static_cast<Eigen::Index>(position(meta.at("x"), "epoch"));
    for (const Param& param : space.params()) {
      rows_.push_back(static_cast<Eigen::Index>(position(meta.at("x"), param.name)));
    }
    time_ = static_cast<Eigen::Index>(position(meta.at("y"), "time"));
    value_ = static_cast<Eigen::Index>(position(meta.at("y"), "val_accuracy"));
  }

  CurveTable::Run operator()(const Config& config) const {
    Matrix inputs(std::ssize(rows_) + 1, epochs_);
    for (Epoch t = 1; t <= epochs_; ++t) inputs(epoch_row_, t - 1) = t;
    for (std::size_t i = 0; i < rows_.size(); ++i) inputs.row(rows_[i]).setConstant(number(config.values[i]));
    const Matrix y = network_(inputs, task_);
    CurveTable::Run run;
    double spent = 0.0;
    for (Epoch t = 0; t < epochs_; ++t) {
      const double now = std::max(spent, y(time_, t));
      run.value.push_back(y(value_, t));
      run.cost.push_back(now - spent);
      spent = now;
    }
    return run;
  }

 private:
  Network network_;
  Eigen::Index task_;
  Epoch epochs_;
  Eigen::Index epoch_row_ = 0;
  std::vector<Eigen::Index> rows_;
  Eigen::Index time_ = 0;
  Eigen::Index value_ = 0;
};

void require_task(const Json& meta, const std::string& task) {
  if (meta.at("tasks").contains(task)) return;
  std::vector<std::string> tasks;
  for (const auto& [name, row] : meta.at("tasks").items()) tasks.push_back(name);
  const std::string near = nearest(task, tasks);
  throw InvalidInput(fmt::format("there is no task {}{}; there are {}",
                                 task,
                                 near.empty() ? "" : fmt::format(", did you mean {}?", near),
                                 fmt::join(tasks, ", ")));
}

CurveTable table_from(const Json& meta, const std::string& weights, const NetworkTableOptions& options) {
  require_task(meta, options.task);
  CurveTable table;
  table.name = fmt::format("network-{}", options.task);
  table.space = space_of(meta.at("space"));
  table.metric = {.name = "val_accuracy", .goal = Goal::maximize};
  table.cost_unit = "s";
  table.max_epoch = meta.at("epochs").get<Epoch>();
  const auto oracle = std::make_shared<const Oracle>(
      Network(meta, weights), meta, table.space, meta.at("tasks").at(options.task).get<Eigen::Index>());
  Rng rng = Rng(options.seed).fork("network rows");
  for (int i = 0; i < options.rows; ++i) {
    table.configs.push_back(table.space.sample(rng));
    table.runs.push_back((*oracle)(table.configs.back()));
  }
  if (options.answers == NetworkTableOptions::Answers::any) {
    table.at_any = [oracle](const Config& config) { return (*oracle)(config); };
  }
  table.validate();
  return table;
}

Json meta_of(const std::filesystem::path& json) {
  Json meta = Json::parse(contents_of(json), nullptr, false);
  require(meta.is_object() && meta.contains("arrays") && meta.contains("tasks") && meta["tasks"].is_object(),
          fmt::format("{}: expected a JSON object with arrays and tasks", json.string()));
  return meta;
}

}  // namespace

std::vector<std::string> network_tasks(const std::filesystem::path& json) {
  std::vector<std::string> tasks;
  const Json meta = meta_of(json);
  for (const auto& [task, row] : meta["tasks"].items()) tasks.push_back(task);
  return tasks;
}

CurveTable read_network_surrogate(const std::filesystem::path& json, const NetworkTableOptions& options) {
  require(options.rows >= 1 && options.rows <= 100000,
          fmt::format("{}: rows = {}, must be from 1 to 100000", json.string(), options.rows));
  const Json meta = meta_of(json);
  const std::string weights = contents_of(std::filesystem::path(json).replace_extension(".weights"));
  try {
    return table_from(meta, weights, options);
  } catch (const Json::exception& e) {
    throw InvalidInput(fmt::format("{}: {}", json.string(), e.what()));
  }
}

}  // namespace bapi
