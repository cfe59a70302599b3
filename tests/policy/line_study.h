#pragma once

#include <utility>
#include <vector>

#include "bapi/policy/candidates.h"
#include "bapi/policy/models.h"

// Studies of one parameter x in [0, 1] whose values rise with x; what is reported costs 2 per epoch.
namespace bapi::test {

inline StudySpec line(Epoch max_epoch = 9) {
  StudySpec spec{.name = "line"};
  spec.budget = {.limit = 1e9, .meter = Meter::reported};
  spec.epochs = {.min = 1, .max = max_epoch};
  spec.space = Space({{.name = "x", .domain = RealRange{}}});
  return spec;
}

inline StudySpec four_rows() {
  StudySpec spec = line();
  spec.pool = {{{0.0}}, {{0.3}}, {{0.6}}, {{1.0}}};
  return spec;
}

// Trained to `done` epochs of cost 2 and paused; the values rise towards x.
inline TrialId add_trial(History& history, double x, Epoch done = 3) {
  const TrialId id{std::ssize(history.trials())};
  history.apply(TrialStarted{.trial = id, .config = {{x}}, .until = done});
  for (Epoch t = 1; t <= done; ++t) history.apply(Measured{id, {t, x - 0.5 / t, 2.0}});
  history.apply(SegmentDone{id});
  return id;
}

inline History paused_trials(StudySpec spec, const std::vector<double>& tried, Epoch done = 3) {
  History history(std::move(spec));
  for (const double x : tried) add_trial(history, x, done);
  return history;
}

inline std::vector<double> xs(const std::vector<Candidate>& candidates) {
  std::vector<double> values;
  for (const Candidate& candidate : candidates) values.push_back(std::get<double>(candidate.config.values[0]));
  return values;
}

// A study with its models.
struct Fitted {
  explicit Fitted(History of) : history(std::move(of)) {}

  History history;
  Evidence evidence{history};
  Models models = [this] {
    Rng rng(1);
    return fit_models(evidence, {}, rng);
  }();
};

}  // namespace bapi::test
