#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "bapi/tables/curve_table.h"

namespace bapi::test {

// A table over one parameter x in [0, 1] with `rows` evenly spaced configurations.
inline CurveTable table_of(
    int rows,
    Epoch max_epoch,
    const std::function<double(double x, Epoch t)>& value,
    const std::function<double(double x)>& epoch_cost = [](double) { return 1.0; }) {
  CurveTable table;
  table.name = "made";
  table.metric = {.name = "accuracy", .goal = Goal::maximize};
  table.max_epoch = max_epoch;
  for (int i = 0; i < rows; ++i) {
    const double x = rows == 1 ? 0.5 : static_cast<double>(i) / (rows - 1);
    table.configs.push_back({{x}});
    CurveTable::Run run;
    for (Epoch t = 1; t <= max_epoch; ++t) {
      run.value.push_back(value(x, t));
      run.cost.push_back(epoch_cost(x));
    }
    table.runs.push_back(std::move(run));
  }
  table.validate();
  return table;
}

// Power-law curves that rise to a peak at x = 0.7; epochs cost between 1 and 3.
inline CurveTable small_table(int rows = 20, Epoch max_epoch = 9) {
  return table_of(
      rows,
      max_epoch,
      [](double x, Epoch t) { return 1.0 - (x - 0.7) * (x - 0.7) - 0.5 / std::sqrt(static_cast<double>(t)); },
      [](double x) { return 1.0 + 2.0 * x; });
}

}  // namespace bapi::test
