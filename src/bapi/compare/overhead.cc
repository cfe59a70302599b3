#include "bapi/compare/overhead.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "bapi/base/error.h"

namespace bapi {
namespace {

int group_of(int trials) { return trials == 0 ? -1 : static_cast<int>(2.0 * std::log2(trials)); }

// Mean time of decisions as a line in x = n^power, weighted by how many decisions there were.
struct Line {
  double fixed = 0.0;
  double scale = 0.0;
  double squares = 0.0;  // that it leaves
};

Line line_through(std::span<const DecisionTimes> times, double power) {
  double weight = 0.0;
  double x_mean = 0.0;
  double y_mean = 0.0;
  for (const DecisionTimes& t : times) {
    weight += t.decisions;
    x_mean += t.decisions * std::pow(t.trials, power);
    y_mean += t.seconds;
  }
  x_mean /= weight;
  y_mean /= weight;
  double xx = 0.0;
  double xy = 0.0;
  for (const DecisionTimes& t : times) {
    const double x = std::pow(t.trials, power) - x_mean;
    xx += t.decisions * x * x;
    xy += x * (t.seconds - t.decisions * y_mean);
  }
  Line line;
  line.scale = xx > 0.0 ? std::max(0.0, xy / xx) : 0.0;
  line.fixed = y_mean - line.scale * x_mean;
  if (line.fixed < 0.0) {  // then the best line that is allowed passes through the origin
    line.fixed = 0.0;
    line.scale = y_mean * x_mean + xy / weight;
    line.scale /= x_mean * x_mean + xx / weight;
  }
  for (const DecisionTimes& t : times) {
    const double left = t.seconds / t.decisions - line.fixed - line.scale * std::pow(t.trials, power);
    line.squares += t.decisions * left * left;
  }
  return line;
}

// To three digits, so that what is shown is what is charged.
double rounded(double x) {
  if (x == 0.0) return 0.0;
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 2.0);
  return std::round(x / unit) * unit;
}

}  // namespace

std::vector<DecisionTimes> decision_times(std::span<const TimedDecision> decisions) {
  std::map<int, DecisionTimes> groups;
  for (const TimedDecision& decision : decisions) {
    DecisionTimes& group = groups[group_of(decision.trials)];
    group.trials += decision.trials;
    ++group.decisions;
    group.seconds += decision.seconds;
  }
  std::vector<DecisionTimes> times;
  for (auto& [index, group] : groups) {
    group.trials /= group.decisions;
    times.push_back(group);
  }
  return times;
}

double OverheadModel::seconds(double trials) const { return fixed + scale * std::pow(trials, power); }

std::string to_text(const OverheadModel& model) {
  if (model.scale == 0.0) return fmt::format("{:.3g} s", model.fixed);
  return fmt::format("{:.3g} + {:.3g} n^{:.3g} s", model.fixed, model.scale, model.power);
}

OverheadModel fit_overhead(std::span<const DecisionTimes> times) {
  require(!times.empty(), "overhead: there are no decisions to learn from");
  OverheadModel best;
  double least = std::numeric_limits<double>::infinity();
  for (int quarter = 1; quarter <= 12; ++quarter) {
    const double power = 0.25 * quarter;
    const Line line = line_through(times, power);
    if (line.squares >= least) continue;
    least = line.squares;
    best = {.fixed = line.fixed, .scale = line.scale, .power = power};
  }
  best.fixed = rounded(best.fixed);
  best.scale = rounded(best.scale);
  return best;
}

}  // namespace bapi
