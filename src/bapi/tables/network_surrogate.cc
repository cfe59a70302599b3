#include "bapi/tables/network_surrogate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/nearest.h"
#include "bapi/math/types.h"
#include "bapi/tables/byte_array.h"
#include "bapi/tables/json_field.h"

namespace bapi {
namespace {

constexpr std::uint64_t kMostEpochs = 100'000;  // all of a curve is computed at once

// Scaling of one input or output: (log(v) - sub) / div, or its inverse.
struct Scaling {
  std::vector<bool> log;
  Vector offset;
  Vector factor;
};

Scaling scaling_of(const JsonField& log, const JsonField& offset, const JsonField& factor, std::size_t count) {
  Scaling scaling;
  for (const JsonField& flag : log.items()) scaling.log.push_back(flag.flag());
  const std::vector<double> offsets = offset.numbers();
  const std::vector<double> factors = factor.numbers();
  const std::string expected = fmt::format("expected {} of them", count);
  log.require(scaling.log.size() == count, expected);
  offset.require(offsets.size() == count, expected);
  factor.require(factors.size() == count, expected);
  scaling.offset = Vector::Map(offsets.data(), std::ssize(offsets));
  scaling.factor = Vector::Map(factors.data(), std::ssize(factors));
  return scaling;
}

// An array of the file of weights: a matrix by rows, or a column.
Matrix array_of(const JsonField& array, std::string_view weights) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();  // products of two fit a size
  const std::vector<JsonField> shape = array.at("shape").items();
  array.at("shape").require(shape.size() == 1 || shape.size() == 2, "expected one or two numbers");
  const std::uint64_t rows = shape[0].whole(1, kMost);
  const std::uint64_t columns = shape.size() > 1 ? shape[1].whole(1, kMost) : 1;
  const std::uint64_t offset = array.at("offset").whole(0, std::numeric_limits<std::uint64_t>::max());
  const std::size_t count = saturated_product({rows, columns});
  array.require(bytes_needed(offset, count, sizeof(float)) <= weights.size(),
                fmt::format("the weights end before {}", array.at("name").text()));
  const std::vector<float> values = array_at<float>(weights, offset, count);
  using ByRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return ByRows::Map(values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)).cast<double>();
}

// The residual network: an embedding of the task beside the scaled inputs, three gated residual blocks, a sigmoid head.
class Network {
 public:
  // Every array that will be used is there and has the shape that its neighbours need; InvalidInput otherwise.
  Network(const JsonField& meta, std::string_view weights) {
    for (const JsonField& array : meta.at("arrays").items()) {
      arrays_.emplace(array.at("name").text(), array_of(array, weights));
    }
    const std::size_t inputs = meta.at("x").items().size();
    const std::size_t outputs = meta.at("y").items().size();
    in_ = scaling_of(meta.at("x_log"), meta.at("x_sub"), meta.at("x_div"), inputs);
    out_ = scaling_of(meta.at("y_log"), meta.at("y_add"), meta.at("y_mul"), outputs);
    log_epsilon_ = meta.at("log_eps").number();
    bn_epsilon_ = meta.at("bn_eps").number();
    require_shapes(meta.at("arrays"), static_cast<Eigen::Index>(inputs), static_cast<Eigen::Index>(outputs));
  }

  Eigen::Index tasks() const { return at("embds_fct.0.weight").rows(); }

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
    for (const std::string& layer : layers()) {
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

  std::vector<std::string> layers() const {
    std::vector<std::string> names;
    while (arrays_.contains(fmt::format("layers.{}.linear0.weight", names.size()))) {
      names.push_back(fmt::format("layers.{}", names.size()));
    }
    return names;
  }

  // The block's normalisation, whatever it is called.
  std::string norm_of(const std::string& layer) const {
    for (const char* name : {".normalization", ".norm", ".bn"}) {
      if (arrays_.contains(layer + name + ".weight")) return layer + name;
    }
    throw InvalidInput(fmt::format("the network has no normalisation for {}", layer));
  }

  void require_shape(const JsonField& arrays, const std::string& name, Eigen::Index rows, Eigen::Index columns) const {
    const Matrix& array = at(name);
    arrays.require(array.rows() == rows && array.cols() == columns,
                   fmt::format("{} is {} x {}, expected {} x {}", name, array.rows(), array.cols(), rows, columns));
  }

  void require_linear(const JsonField& arrays, const std::string& name, Eigen::Index rows, Eigen::Index columns) const {
    require_shape(arrays, name + ".weight", rows, columns);
    require_shape(arrays, name + ".bias", rows, 1);
  }

  void require_norm(const JsonField& arrays, const std::string& name, Eigen::Index rows) const {
    for (const char* part : {".running_mean", ".running_var", ".weight", ".bias"}) {
      require_shape(arrays, name + part, rows, 1);
    }
  }

  void require_shapes(const JsonField& arrays, Eigen::Index inputs, Eigen::Index outputs) const {
    const Eigen::Index width = at("first_layer.weight").rows();
    require_linear(arrays, "first_layer", width, at("embds_fct.0.weight").cols() + inputs);
    for (const std::string& layer : layers()) {
      const Eigen::Index gated = at(layer + ".linear1.weight").cols();
      require_norm(arrays, norm_of(layer), width);
      require_linear(arrays, layer + ".linear0", 2 * gated, width);
      require_linear(arrays, layer + ".linear1", width, gated);
    }
    require_norm(arrays, "last_normalization", width);
    require_linear(arrays, "head", outputs, width);
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

  std::map<std::string, Matrix> arrays_;
  Scaling in_;
  Scaling out_;
  double log_epsilon_ = 0.0;
  double bn_epsilon_ = 0.0;
};

Domain domain_of(const JsonField& param) {
  const auto type = param.find("type");
  const auto written_scale = param.find("scale");
  const Scale scale = written_scale && written_scale->text() == "log" ? Scale::log : Scale::linear;
  const JsonField lower = param.at("lower");
  const JsonField upper = param.at("upper");
  if (type && type->text() == "int") return IntRange{.low = lower.integer(), .high = upper.integer(), .scale = scale};
  return RealRange{.low = lower.number(), .high = upper.number(), .scale = scale};
}

Space space_of(const JsonField& list) {
  std::vector<Param> params;
  for (const JsonField& param : list.items()) {
    params.push_back({.name = param.at("name").text(), .domain = domain_of(param)});
  }
  return Space(std::move(params));
}

double number(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

// Where `name` stands among the inputs or outputs.
Eigen::Index position(const JsonField& names, const std::string& name) {
  const std::vector<std::string> known = names.texts();
  const auto found = std::find(known.begin(), known.end(), name);
  names.require(found != known.end(), fmt::format("there is no {}", name));
  return found - known.begin();
}

// The rows of the inputs in which the parameters stand: with `epoch`, every input once.
std::vector<Eigen::Index> input_rows(const JsonField& inputs, const Space& space) {
  std::vector<Eigen::Index> rows;
  for (const Param& param : space.params()) {
    inputs.require(param.name != "epoch", "a parameter is called epoch");
    rows.push_back(position(inputs, param.name));
  }
  inputs.require(inputs.items().size() == rows.size() + 1, "expected epoch and the parameters of the space");
  return rows;
}

// Trains a configuration in the network's imagination.
class Oracle {
 public:
  Oracle(Network network, const JsonField& meta, const Space& space, Eigen::Index task, Epoch epochs)
      : network_(std::move(network)),
        task_(task),
        epochs_(epochs),
        epoch_row_(position(meta.at("x"), "epoch")),
        rows_(input_rows(meta.at("x"), space)),
        time_(position(meta.at("y"), "time")),
        value_(position(meta.at("y"), "val_accuracy")) {}

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
  Eigen::Index epoch_row_;
  std::vector<Eigen::Index> rows_;
  Eigen::Index time_;
  Eigen::Index value_;
};

void require_task(const JsonField& meta, const std::string& task) {
  if (meta.at("tasks").find(task)) return;
  const std::vector<std::string> tasks = meta.at("tasks").keys();
  const std::string near = nearest(task, tasks);
  throw InvalidInput(fmt::format("there is no task {}{}; there are {}",
                                 task,
                                 near.empty() ? "" : fmt::format(", did you mean {}?", near),
                                 fmt::join(tasks, ", ")));
}

// The row of the embeddings that belongs to the task.
Eigen::Index row_of(const JsonField& task, const Network& network) {
  return static_cast<Eigen::Index>(task.whole(0, static_cast<std::uint64_t>(network.tasks()) - 1));
}

}  // namespace

std::vector<std::string> network_tasks(const std::filesystem::path& json) {
  const std::string file = json.string();
  const nlohmann::json document = parse_json(contents_of(json), file);
  return JsonField(document, file).at("tasks").keys();
}

CurveTable parse_network_surrogate(std::string_view json,
                                   std::string_view weights,
                                   const std::string& file,
                                   const NetworkTableOptions& options) {
  require(options.rows >= 1 && options.rows <= 100000,
          fmt::format("{}: rows = {}, must be from 1 to 100000", file, options.rows));
  const nlohmann::json document = parse_json(json, file);
  const JsonField meta(document, file);
  require_task(meta, options.task);
  CurveTable table;
  table.name = fmt::format("network-{}", options.task);
  table.space = space_of(meta.at("space"));
  table.metric = {.name = "val_accuracy", .goal = Goal::maximize};
  table.cost_unit = std::string("s");
  table.max_epoch = static_cast<Epoch>(meta.at("epochs").whole(1, kMostEpochs));
  Network network(meta, weights);
  const Eigen::Index task = row_of(meta.at("tasks").at(options.task), network);
  const auto oracle = std::make_shared<const Oracle>(std::move(network), meta, table.space, task, table.max_epoch);
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

CurveTable read_network_surrogate(const std::filesystem::path& json, const NetworkTableOptions& options) {
  const std::string weights = contents_of(std::filesystem::path(json).replace_extension(".weights"));
  return parse_network_surrogate(contents_of(json), weights, json.string(), options);
}

}  // namespace bapi
