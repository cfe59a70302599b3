#include "bapi/study/earlier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/study/wish.h"

namespace bapi {
namespace {

// Configurations that are tried first, unless there are more studies. They take the place of trials of an initial
// design, which has one more than there are parameters: most of it has to stay, in case the earlier study is of no use.
std::size_t most_tried(const Space& space) {
  return static_cast<std::size_t>(std::clamp<Eigen::Index>((space.unit_dim() + 1) / 3, 1, 3));
}

// Two configurations are close if no coordinate of the unit cube differs by more.
constexpr double kClose = 0.05;

bool unknown(const Value& value) { return std::holds_alternative<std::monostate>(value); }

const Param* param_called(const std::string& name, const Space& space) {
  const auto found = std::find_if(
      space.params().begin(), space.params().end(), [&](const Param& param) { return param.name == name; });
  return found == space.params().end() ? nullptr : &*found;
}

bool is_fixed(const Param& param) { return std::holds_alternative<Constant>(param.domain); }

Value rounded_for(const Value& value, const Domain& domain) {
  const auto* number = std::get_if<double>(&value);
  return number && std::holds_alternative<IntRange>(domain) ? Value(std::round(*number)) : value;
}

// As this parameter has it, whatever it depends on; nullopt if it is not allowed.
std::optional<Value> as_in(const Param& param, const Value& value) {
  const Space alone({Param{.name = param.name, .domain = param.domain}});
  try {
    return wish_of({{param.name, rounded_for(value, param.domain)}}, alone).values.front();
  } catch (const InvalidInput&) {
    return std::nullopt;
  }
}

// Leaves a value out where what it depends on is not known or says otherwise, and then what depends on that.
void drop_what_does_not_apply(Config& wish, const Space& space) {
  const auto known = [&](const std::string& name) -> Value {
    for (std::size_t i = 0; i < space.params().size(); ++i) {
      if (space.params()[i].name != name) continue;
      const auto* constant = std::get_if<Constant>(&space.params()[i].domain);
      return constant ? constant->value : wish.values[i];
    }
    return {};
  };
  for (std::size_t round = 0; round < space.params().size(); ++round) {
    for (std::size_t i = 0; i < space.params().size(); ++i) {
      const std::vector<Condition>& when = space.params()[i].when;
      const bool applies = std::all_of(when.begin(), when.end(), [&](const Condition& condition) {
        return std::find(condition.values.begin(), condition.values.end(), known(condition.param)) !=
               condition.values.end();
      });
      if (!applies) wish.values[i] = {};
    }
  }
}

Config whole(const Config& wish, const Space& space) {
  return completed(wish, space.from_unit(Vector::Constant(space.unit_dim(), 0.5)), space);
}

bool is_close(const Config& a, const Config& b, const Space& space) {
  return (space.to_unit(whole(a, space)) - space.to_unit(whole(b, space))).cwiseAbs().maxCoeff() <= kClose;
}

const Config* nearest_row(const Config& wish, const Space& space, const std::vector<Config>& pool) {
  const Vector x = space.encode(whole(wish, space));
  const Config* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Config& row : pool) {
    const double distance = (space.encode(row) - x).squaredNorm();
    if (distance >= least) continue;
    least = distance;
    nearest = &row;
  }
  return nearest;
}

std::string rank_text(std::size_t rank) {
  return rank == 0 ? "the best" : rank == 1 ? "the second best" : fmt::format("number {}", rank + 1);
}

}  // namespace

std::optional<Config> translated(const Config& config, const Space& from, const Space& to) {
  Config wish{std::vector<Value>(to.params().size())};
  for (std::size_t i = 0; i < from.params().size(); ++i) {
    const Param* param = param_called(from.params()[i].name, to);
    if (!param || is_fixed(*param) || unknown(config.values[i])) continue;
    const std::optional<Value> value = as_in(*param, config.values[i]);
    if (!value) return std::nullopt;
    wish.values[static_cast<std::size_t>(param - to.params().data())] = *value;
  }
  drop_what_does_not_apply(wish, to);
  return wish;
}

std::vector<std::string> missing_in(const Space& from, const Space& to) {
  std::vector<std::string> names;
  for (const Param& param : to.params()) {
    if (!is_fixed(param) && !param_called(param.name, from)) names.push_back(param.name);
  }
  return names;
}

std::vector<EarlierBest> best_of_earlier(const std::vector<EarlierStudy>& earlier,
                                         const Space& space,
                                         const std::vector<Config>& pool) {
  const std::size_t most = std::max(most_tried(space), earlier.size());
  std::vector<EarlierBest> chosen;
  std::vector<std::size_t> next(earlier.size(), 0);  // of the trials of each study
  std::vector<std::size_t> taken(earlier.size(), 0);
  const auto add_from = [&](std::size_t k) {
    while (next[k] < earlier[k].trials.size()) {
      Config wish = earlier[k].trials[next[k]++].config;
      if (std::all_of(wish.values.begin(), wish.values.end(), unknown)) continue;
      if (!pool.empty()) wish = *nearest_row(wish, space, pool);
      const bool repeats = std::any_of(chosen.begin(), chosen.end(), [&](const EarlierBest& other) {
        return wish == other.wish || is_close(wish, other.wish, space);
      });
      if (repeats) continue;
      chosen.push_back({.wish = std::move(wish),
                        .by = fmt::format("the warm start: {} of {}", rank_text(taken[k]++), earlier[k].name)});
      return true;
    }
    return false;
  };
  for (bool more = true; more && chosen.size() < most;) {
    more = false;
    for (std::size_t k = 0; k < earlier.size() && chosen.size() < most; ++k) more = add_from(k) || more;
  }
  return chosen;
}

}  // namespace bapi
