#include "bapi/policy/rivals/boil.h"

#include <algorithm>
#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/search.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rungs.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

// Added to the scaled cost: no run is more than about ten times as cheap as another.
constexpr double kCostFloor = 0.1;

// Where there is a search for the maximum of the mean and of the acquisition, per dimension of (x, t).
constexpr int kMeanRaw = 50;
constexpr int kMeanStarts = 1;
constexpr int kRaw = 300;
constexpr int kStarts = 3;
constexpr int kIterations = 10;

SearchOptions search_options(int dimensions, int raw, int starts) {
  return {.raw_points = raw * dimensions,
          .starts = starts * dimensions,
          .ascent = {.max_iterations = kIterations * dimensions, .relative_tolerance = 1e-4}};
}

// What can be trained further, and how long: untried configurations from the first length on, paused ones beyond
// where they stand.
class Trainable {
 public:
  explicit Trainable(const Evidence& evidence) : history_(evidence.history()), known_(paused_candidates(evidence)) {
    for (Candidate& row : untried_rows(history_)) known_.push_back(std::move(row));
    x_ = stacked(known_);
  }

  struct Run {
    Candidate candidate;
    Epoch until = 0;
  };

  bool nothing_left() const { return !history_.spec().pool.empty() && known_.empty(); }

  // The run nearest to a point (x, t); nothing if that configuration is running or done.
  std::optional<Run> nearest(const Vector& xt) const {
    const Vector x = xt.head(xt.size() - 1);
    if (!history_.spec().pool.empty()) {
      if (known_.empty()) return std::nullopt;
      Eigen::Index row = 0;
      (x_.rowwise() - x.transpose()).rowwise().squaredNorm().minCoeff(&row);
      return run(known_[static_cast<std::size_t>(row)], xt[xt.size() - 1]);
    }
    const Config config = history_.spec().space.decode(x);
    for (const Trial& trial : history_.trials()) {
      if (trial.config != config) continue;
      const auto paused = std::find_if(
          known_.begin(), known_.end(), [&](const Candidate& candidate) { return candidate.trial == trial.id; });
      if (paused == known_.end()) return std::nullopt;
      return run(*paused, xt[xt.size() - 1]);
    }
    return run(new_candidate(history_, config, 0), xt[xt.size() - 1]);
  }

  Vector point(const Run& run) const {
    Vector xt(run.candidate.x.size() + 1);
    xt << run.candidate.x,
        scaled_epoch({.min = history_.spec().epochs.min, .max = history_.spec().epochs.max}, run.until);
    return xt;
  }

 private:
  Run run(const Candidate& candidate, double t) const {
    const EpochRange range = history_.spec().epochs;
    const auto wanted = range.min + static_cast<Epoch>(std::lround(t * (range.max - range.min)));
    return {candidate, std::clamp(wanted, std::max(range.min, candidate.done + 1), range.max)};
  }

  const History& history_;
  std::vector<Candidate> known_;
  Matrix x_;
};

// The largest posterior mean anywhere, which stands for the incumbent.
double largest_mean(const ExactGp& gp, int dimensions, Rng& rng) {
  const auto score = [&](const Matrix& xt) { return boil_moments(gp, xt).mean; };
  const SearchObjective objective{
      .screen = score, .score = score, .ascend = [&](const Matrix& xt, Vector& values, Matrix& gradients) {
        SpaceTimeMoments at = boil_gradients(gp, xt);
        values = std::move(at.mean);
        gradients = std::move(at.mean_gradient);
      }};
  const std::vector<ScoredPoint> found = search_cube(
      objective, dimensions, Matrix(dimensions, 0), {}, search_options(dimensions, kMeanRaw, kMeanStarts), rng);
  return found.empty() ? gp.y().maxCoeff() : found.front().score;
}

// log EI - log(cost); predictions are of observations.
SearchObjective improvement_per_cost(const BoilModel& model, double best) {
  const double noise = model.gp.noise();
  const auto score = [&model, best, noise](const Matrix& xt) {
    const Moments at = boil_moments(model.gp, xt);
    Vector values(xt.cols());
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      values[i] = log_expected_improvement(at.mean[i], std::sqrt(at.variance[i] + noise), best) -
                  std::log(std::max(0.0, model.cost.at(xt.col(i))) + kCostFloor);
    }
    return values;
  };
  return {.screen = score,
          .score = score,
          .ascend = [&model, best, noise](const Matrix& xt, Vector& values, Matrix& gradients) {
            const SpaceTimeMoments at = boil_gradients(model.gp, xt);
            for (Eigen::Index i = 0; i < xt.cols(); ++i) {
              const double sd = std::sqrt(at.variance[i] + noise);
              const ImprovementSlopes slopes = log_improvement_slopes(at.mean[i], sd, best);
              const double cost = model.cost.at(xt.col(i));
              values[i] = slopes.log_value - std::log(std::max(0.0, cost) + kCostFloor);
              gradients.col(i) =
                  slopes.mean * at.mean_gradient.col(i) + slopes.sd / (2.0 * sd) * at.variance_gradient.col(i);
              if (cost > 0.0) gradients.col(i) -= model.cost.slope / (cost + kCostFloor);
            }
          }};
}

bool has_curve(const History& history) {
  return std::any_of(history.trials().begin(), history.trials().end(), [](const Trial& trial) {
    return !trial.curve.empty() && !trial.segment;
  });
}

const OptionTable<BoilOptions>& boil_table() {
  static const auto all = OptionTable<BoilOptions>()
                              .integer(
                                  "virtual_points",
                                  [](BoilOptions & o) -> auto& { return o.model.virtual_points; },
                                  0,
                                  10,
                                  "further points of a full curve that the model uses")
                              .integer(
                                  "fit_trials",
                                  [](BoilOptions & o) -> auto& { return o.model.fit_trials; },
                                  0,
                                  100,
                                  "hyperparameters drawn at every fit; 0 fits none")
                              .part(
                                  initial_runs_option(), [](BoilOptions & o) -> auto& { return o.design; });
  return all;
}

}  // namespace

PolicyInfo Boil::info() {
  return {.name = "boil",
          .summary = "chooses configuration and length by expected improvement per cost",
          .options = boil_table().describe({})};
}

Boil::Boil(const PolicySpec& spec) : options_(boil_table().read(spec, {})) {}

Decision Boil::ask(const History& history, Rng& rng) {
  if (options_.design.unfinished(history) || !has_curve(history)) return options_.design.next(history);
  const Evidence evidence(history);
  const Trainable trainable(evidence);
  if (trainable.nothing_left()) return nothing_to_do(history, kPoolExhausted);

  Rng model_stream = rng.fork("model");
  const BoilModel model =
      fit_boil(evidence.curves(), evidence.running(), evidence.epochs(), options_.model, model_stream);
  const int dimensions = history.spec().space.encoded_dim() + 1;
  Rng mean_stream = rng.fork("mean");
  const double best = largest_mean(model.gp, dimensions, mean_stream);
  const Decoder decode = [&](const Vector& xt) {
    const std::optional<Trainable::Run> run = trainable.nearest(xt);
    return run ? trainable.point(*run) : xt;
  };
  const SearchObjective objective =
      times(improvement_per_cost(model, best), evidence.failures().factor(), dimensions - 1);
  Rng search_stream = rng.fork("runs");
  const std::vector<ScoredPoint> found = search_cube(
      objective, dimensions, Matrix(dimensions, 0), decode, search_options(dimensions, kRaw, kStarts), search_stream);
  for (const ScoredPoint& point : found) {
    const std::optional<Trainable::Run> run = trainable.nearest(point.x);
    if (!run) continue;
    return train(run->candidate,
                 run->until,
                 0.0,
                 {.rule = Rule::score_per_cost,
                  .score = Score{.log = point.score, .unit = ScoreUnit::model},
                  .notes = {{.kind = NoteKind::scaled_cost, .value = model.cost.at(point.x)},
                            {.kind = NoteKind::best_score, .value = best},
                            {.kind = NoteKind::model_rows, .value = static_cast<double>(model.gp.size())}}});
  }
  return options_.design.next(history);
}

}  // namespace bapi
