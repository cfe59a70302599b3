#include "bapi/policy/rivals/bohb.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/policy/fresh.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rungs.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

// Squared Euclidean distance in the unit cube; two different options are as far apart as the ends of a range.
double squared_distance(const Vector& a, const Vector& b, const std::vector<Coordinate>& axes) {
  double sum = 0.0;
  for (Eigen::Index k = 0; k < a.size(); ++k) {
    const double difference = a[k] - b[k];
    if (axes[static_cast<std::size_t>(k)].categorical()) {
      sum += difference == 0.0 ? 0.0 : 1.0;
    } else {
      sum += difference * difference;
    }
  }
  return sum;
}

std::optional<Config> nearest_untried(const History& history,
                                      const Vector& point,
                                      const std::vector<Coordinate>& axes) {
  const StudySpec& spec = history.spec();
  std::vector<bool> tried(spec.pool.size(), false);
  for (const Trial& trial : history.trials()) {
    if (trial.pool_row >= 0) tried[static_cast<std::size_t>(trial.pool_row)] = true;
  }
  std::optional<Config> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < spec.pool.size(); ++row) {
    if (tried[row]) continue;
    const double distance = squared_distance(point, bohb_point(spec.space, spec.pool[row]), axes);
    if (distance < least) {
      least = distance;
      nearest = spec.pool[row];
    }
  }
  return nearest;
}

// The trials with a result at `level`, best first. A trial has results at the levels from its entry on.
std::vector<const Trial*> results_at(const History& history, const std::vector<Epoch>& entries, Epoch level) {
  std::vector<std::pair<double, const Trial*>> results;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Trial& trial = history.trials()[i];
    if (entries[i] > level) continue;
    if (trial.curve.last_epoch() >= level || (trial.state == TrialState::completed && trial.asked_until >= level)) {
      results.emplace_back(value_at(trial, level), &trial);
    } else if (trial.state == TrialState::failed && trial.asked_until == level) {
      results.emplace_back(-std::numeric_limits<double>::infinity(), &trial);
    }
  }
  std::stable_sort(results.begin(), results.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Trial*> trials;
  for (const auto& [value, trial] : results) trials.push_back(trial);
  return trials;
}

const OptionTable<BohbOptions>& bohb_table() {
  static const auto all = OptionTable<BohbOptions>()
                              .part(
                                  halving_options(), [](BohbOptions & o) -> auto& { return o.halving; })
                              .real(
                                  "random_fraction",
                                  [](BohbOptions & o) -> auto& { return o.random_fraction; },
                                  0.0,
                                  1.0,
                                  "share of new configurations drawn uniformly at random")
                              .integer(
                                  "samples",
                                  [](BohbOptions & o) -> auto& { return o.samples; },
                                  1,
                                  10'000,
                                  "candidates drawn, of which the most promising is proposed")
                              .real(
                                  "bandwidth_factor",
                                  [](BohbOptions & o) -> auto& { return o.bandwidth_factor; },
                                  0.1,
                                  100.0,
                                  "factor by which candidates spread more widely than the density");
  return all;
}

}  // namespace

std::vector<Coordinate> bohb_coordinates(const Space& space) {
  std::vector<Coordinate> axes;
  for (const Param& param : space.params()) {
    if (std::holds_alternative<Constant>(param.domain)) continue;
    const auto* choice = std::get_if<Choice>(&param.domain);
    const bool unordered = choice && choice->order == Choice::Order::unordered;
    axes.push_back({.options = unordered ? static_cast<int>(choice->options.size()) : 0});
  }
  return axes;
}

Vector bohb_point(const Space& space, const Config& config) {
  Vector point = space.to_unit(config);
  const std::vector<Coordinate> axes = bohb_coordinates(space);
  for (Eigen::Index k = 0; k < point.size(); ++k) {
    const Coordinate& axis = axes[static_cast<std::size_t>(k)];
    if (axis.categorical()) point[k] = std::min(axis.options - 1.0, std::floor(point[k] * axis.options));
  }
  return point;
}

Config bohb_config(const Space& space, const Vector& point) {
  Vector unit = point;
  const std::vector<Coordinate> axes = bohb_coordinates(space);
  for (Eigen::Index k = 0; k < unit.size(); ++k) {
    const Coordinate& axis = axes[static_cast<std::size_t>(k)];
    if (axis.categorical()) unit[k] = (point[k] + 0.5) / axis.options;
  }
  return space.from_unit(unit);
}

PolicyInfo Bohb::info() {
  return {.name = "bohb",
          .summary = "hyperband that draws new configurations close to good ones",
          .options = bohb_table().describe({})};
}

Bohb::Bohb(const PolicySpec& spec) : Bohb(bohb_table().read(spec, {})) {}

Bohb::Bohb(const BohbOptions& options) : Hyperband(options.halving), options_(options) {}

std::vector<Epoch> Bohb::entry_epochs(const History& history) const {
  std::vector<Bracket> brackets;
  std::vector<Epoch> entries;
  for (const Trial& trial : history.trials()) {
    Epoch entry = std::numeric_limits<Epoch>::max();
    if (const std::optional<BracketPlace>& place = trial.assignment.place) {
      while (std::ssize(brackets) <= place->bracket) {
        brackets.push_back(bracket(history.spec(), static_cast<int>(brackets.size())));
      }
      const Bracket& rungs = brackets[static_cast<std::size_t>(place->bracket)];
      if (place->rung < std::ssize(rungs)) entry = rungs[static_cast<std::size_t>(place->rung)].epoch;
    }
    entries.push_back(entry);
  }
  return entries;
}

std::optional<LevelResults> Bohb::model_data(const History& history) const {
  const std::vector<Epoch> entries = entry_epochs(history);
  const Bracket levels = bracket(history.spec(), 0);  // the first bracket has all of them
  for (auto rung = levels.rbegin(); rung != levels.rend(); ++rung) {
    const std::vector<const Trial*> results = results_at(history, entries, rung->epoch);
    if (!density_split(static_cast<int>(results.size()), history.spec().space.unit_dim())) continue;
    LevelResults data{.epoch = rung->epoch, .points = Matrix(std::ssize(results), history.spec().space.unit_dim())};
    for (std::size_t i = 0; i < results.size(); ++i) {
      data.points.row(static_cast<Eigen::Index>(i)) = bohb_point(history.spec().space, results[i]->config).transpose();
    }
    return data;
  }
  return std::nullopt;
}

std::optional<Config> Bohb::propose(const History& history, Rng& rng) {
  const std::optional<LevelResults> data = model_data(history);
  if (!data || rng.uniform() < options_.random_fraction) return fresh_config(history);
  const StudySpec& spec = history.spec();
  const std::vector<Coordinate> axes = bohb_coordinates(spec.space);
  const std::optional<DensitySplit> split = density_split(static_cast<int>(data->points.rows()), spec.space.unit_dim());
  const Vector point =
      DensityPair::fit(data->points, axes, *split).propose(options_.samples, options_.bandwidth_factor, rng);
  if (!spec.pool.empty()) return nearest_untried(history, point, axes);
  Config config = bohb_config(spec.space, point);
  return is_tried(history, config) ? fresh_config(history) : config;
}

}  // namespace bapi
