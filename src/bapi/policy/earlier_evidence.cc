#include "bapi/policy/earlier_evidence.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "bapi/model/earlier_trend.h"
#include "bapi/study/wish.h"

namespace bapi {
namespace {

// Which coordinates belong to parameters that the earlier study has.
std::vector<bool> known_coordinates(const EarlierStudy& study, const Space& space) {
  std::vector<bool> known;
  for (const Param& param : space.params()) {
    const int width = Space({Param{.name = param.name, .domain = param.domain}}).encoded_dim();
    const bool missing = std::find(study.missing.begin(), study.missing.end(), param.name) != study.missing.end();
    known.insert(known.end(), static_cast<std::size_t>(width), !missing);
  }
  return known;
}

LearningCurve earlier_curve(const EarlierTrial& trial, const Space& space, CurveId id) {
  const Config middle = space.from_unit(Vector::Constant(space.unit_dim(), 0.5));
  LearningCurve curve{.id = id,
                      .x = space.encode(completed(trial.config, middle, space)),
                      .values = trial.values,
                      .fate = trial.ended ? CurveFate::ended : CurveFate::open};
  Epoch before = 0;
  for (const Epoch epoch : trial.epochs) {
    while (++before < epoch) curve.gaps.push_back(before);
  }
  return curve;
}

EarlierCurves earlier_curves(const EarlierStudy& study, const Space& space) {
  EarlierCurves earlier{.known = known_coordinates(study, space)};
  for (const EarlierTrial& trial : study.trials) {
    earlier.curves.push_back(earlier_curve(trial, space, static_cast<CurveId>(earlier.curves.size())));
  }
  return earlier;
}

Trends fit_trends(const StudySpec& spec) {
  Trends trends;
  for (const EarlierStudy& study : spec.earlier) {
    trends.push_back(
        earlier_trend(earlier_curves(study, spec.space), {.min = spec.epochs.min, .max = spec.epochs.max}));
  }
  return trends;
}

// What the trends depend on, and they.
struct KnownTrends {
  std::vector<EarlierStudy> earlier;
  Space space;
  EpochRange epochs;
  Trends trends;

  bool are_of(const StudySpec& spec) const {
    return epochs == spec.epochs && space == spec.space && earlier == spec.earlier;
  }
};

constexpr std::size_t kMostKnown = 8;

}  // namespace

Trends earlier_trends(const StudySpec& spec) {
  if (spec.earlier.empty()) return {};
  static std::mutex mutex;
  static std::deque<KnownTrends> known;
  {
    const std::lock_guard lock(mutex);
    for (const KnownTrends& each : known) {
      if (each.are_of(spec)) return each.trends;
    }
  }
  KnownTrends found{.earlier = spec.earlier, .space = spec.space, .epochs = spec.epochs, .trends = fit_trends(spec)};
  const std::lock_guard lock(mutex);
  if (known.size() == kMostKnown) known.pop_front();
  known.push_back(found);
  return found.trends;
}

}  // namespace bapi
