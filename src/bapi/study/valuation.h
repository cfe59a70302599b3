#pragma once

#include <vector>

#include "bapi/base/names.h"

namespace bapi {

// How the reports of a trial become its value. `Curve` applies it, and is the only one that does: whoever wants to know
// what a trial is worth asks its curve.

// The epoch that counts for a trial.
enum class ValueOf { best, last };

template <>
inline constexpr auto names<ValueOf> = NameTable{Name{ValueOf::best, "best"}, Name{ValueOf::last, "last"}};

struct Valuation {
  // The value at an epoch is the mean of so many reports, the last ones; of fewer where there are fewer.
  int smooth = 1;
  ValueOf of = ValueOf::best;
  bool operator==(const Valuation&) const = default;
};

// What the last of some reports counts, with those before it, under `smooth`.
double smoothed(const std::vector<double>& reports, int smooth);

// The same of a further report. `recent` are those before it, as far as smoothing needs them; it becomes one of them.
double counted_report(double report, std::vector<double>& recent, int smooth);

}  // namespace bapi
