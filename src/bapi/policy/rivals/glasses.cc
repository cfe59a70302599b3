#include "bapi/policy/rivals/glasses.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bapi/acquisition/penalised_future.h"
#include "bapi/acquisition/tree_search.h"
#include "bapi/math/quasi_random.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/new_configs.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rivals/full_runs.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

constexpr int kRawPoints = 512;  // first points that are screened where there is no pool
constexpr int kSearches = 5;     // of the best, looked at closely
constexpr int kRounds = 3;       // of a search: guess the future, then move the first point with the future held

// What a first point is worth together with its future: their joint improvement times the probability that the first is
// trained without failing. Point and future are one column.
class Utility {
 public:
  Utility(const FailureModel& failures, const ConfigurationModel& model, int horizon, const Matrix& normals, Rng& rng)
      : failures_(failures),
        d_(model.gp.rows().dim()),
        path_(FantasyTree::path(horizon)),
        normals_(normals),
        future_(model.gp, model.best, rng),
        objective_(joint_objective(model.gp, path_, model.best, normals_)),
        climb_(times(objective_, failures_.factor(), d_)) {}

  Utility(const Utility&) = delete;
  Utility& operator=(const Utility&) = delete;

  double lipschitz() const { return future_.lipschitz(); }

  // Log utilities of first points (d x m) with roughly guessed futures.
  Vector screen(const Matrix& firsts) const {
    Matrix points(d_ * path_.nodes(), firsts.cols());
    for (Eigen::Index i = 0; i < firsts.cols(); ++i) {
      points.col(i) = joined(firsts.col(i), future_.rough(firsts.col(i), path_.nodes() - 1));
    }
    return objective_.score(points) + failures_.log_factors(firsts);
  }

  double at(const Vector& first) const {
    return objective_.score(joined(first, future_.refined(first, path_.nodes() - 1)))[0] +
           failures_.log_factors(first)[0];
  }

  // Moves the first point uphill while its future stays.
  Vector moved(const Vector& first) const {
    const Vector start = joined(first, future_.refined(first, path_.nodes() - 1));
    Box box{start, start};
    box.low.head(d_).setZero();
    box.high.head(d_).setOnes();
    const Objective climb = [&](const Vector& points, Vector& gradient) {
      Vector value(1);
      Matrix gradients(points.size(), 1);
      climb_.ascend(points, value, gradients);
      gradient = gradients.col(0);
      return value[0];
    };
    return maximize(climb, box, start, {.max_iterations = 30, .relative_tolerance = 1e-5}).x.head(d_);
  }

 private:
  Vector joined(const Vector& first, const Matrix& future) const {
    Vector points(d_ * path_.nodes());
    points << first, future.reshaped();
    return points;
  }

  const FailureModel& failures_;
  Eigen::Index d_;
  FantasyTree path_;
  const Matrix& normals_;
  PenalisedFuture future_;
  SearchObjective objective_;
  SearchObjective climb_;
};

struct Valued {
  Candidate candidate;
  double log_utility = 0.0;
};

// The best of the candidates: all are screened, a few looked at closely.
std::optional<Valued> best_of(const Utility& utility, const std::vector<Candidate>& candidates) {
  const Vector scores = utility.screen(stacked(candidates).transpose());
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores[static_cast<Eigen::Index>(a)] > scores[static_cast<Eigen::Index>(b)];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(kSearches)));
  std::optional<Valued> best;
  for (const std::size_t i : order) {
    const double log_utility = utility.at(candidates[i].x);
    if (!best || log_utility > best->log_utility) best = Valued{candidates[i], log_utility};
  }
  return best;
}

// First points of the cube: a screen, then alternately a new guess of the future and a move.
std::vector<Candidate> searched(const History& history, const Utility& utility, Rng& rng) {
  const int d = history.spec().space.encoded_dim();
  Matrix firsts = scrambled_sobol_points(kRawPoints, d, rng).transpose();
  for (Eigen::Index i = 0; i < firsts.cols(); ++i) {
    firsts.col(i) = nearest_valid(history.spec().space, firsts.col(i));
  }
  const Vector scores = utility.screen(firsts);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return scores[a] > scores[b]; });
  const NearestUntried untried(history);
  std::vector<Candidate> candidates;
  const auto offer = [&](const Vector& x) {
    if (std::optional<Candidate> candidate = untried.nearest(x)) candidates.push_back(*std::move(candidate));
  };
  for (int k = 0; k < kSearches; ++k) {
    Vector first = firsts.col(order[static_cast<std::size_t>(k)]);
    offer(first);
    for (int round = 0; round < kRounds; ++round) first = utility.moved(first);
    offer(first);
  }
  return candidates;
}

const OptionTable<GlassesOptions>& glasses_table() {
  static const auto all =
      OptionTable<GlassesOptions>()
          .integer(
              "horizon", [](GlassesOptions & o) -> auto& { return o.horizon; }, 2, 16, "trials valued together")
          .integer(
              "draws",
              [](GlassesOptions & o) -> auto& { return o.draws; },
              16,
              100000,
              "draws over which the joint improvement is averaged")
          .part(
              initial_runs_option(), [](GlassesOptions & o) -> auto& { return o.design; });
  return all;
}

}  // namespace

PolicyInfo Glasses::info() {
  return {.name = "glasses",
          .summary = "values a full training together with a guess of those that follow",
          .options = glasses_table().describe({})};
}

Glasses::Glasses(const PolicySpec& spec) : options_(glasses_table().read(spec, {})) {}

Decision Glasses::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, options_.design)) return *first;
  const Evidence evidence(history);
  Rng model_stream = rng.fork("model");
  const ConfigurationModel model = fit_configurations(evidence, model_stream);
  Rng draw_stream = rng.fork("draws");
  const Matrix normals = normal_base_samples(options_.draws, options_.horizon - 1, draw_stream).transpose();
  Rng future_stream = rng.fork("future");
  const Utility utility(evidence.failures(), model, options_.horizon, normals, future_stream);
  Rng search_stream = rng.fork("first points");
  const std::vector<Candidate> candidates =
      history.spec().pool.empty() ? searched(history, utility, search_stream) : untried_rows(history);
  if (candidates.empty()) return options_.design.next(history);
  const std::optional<Valued> choice = best_of(utility, candidates);
  if (!choice) return options_.design.next(history);
  std::vector<Note> notes = notes_of_failures(evidence, choice->candidate);
  notes.push_back({.kind = NoteKind::steepest_slope, .value = utility.lipschitz()});
  return train(choice->candidate,
               history.spec().epochs.max,
               0.0,
               {.rule = Rule::improvement_with_future,
                .forecast = forecast_full_run(history, model, choice->candidate.x),
                .score = score_in_metric(model.scale, model.best, choice->log_utility),
                .notes = std::move(notes)});
}

}  // namespace bapi
