#include "bapi/planner/horizon.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/gp/joint_draws.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/math/truncated_normal.h"
#include "bapi/planner/conservative_stop.h"

namespace bapi {

namespace {

// Each position of the horizon is a curve of its own, from kFirstNewCurve down; screened points are none of these.
constexpr CurveId kScreenCurve = kFirstNewCurve + 1;

// How many points of a search may prove finished or too expensive before the position is given up.
constexpr int kMaxTries = 12;

// Averages over fewer draws than this are too rough to rank points.
constexpr double kFewDraws = 16.0;

// How many points of the screen are looked at again for later positions.
constexpr std::size_t kKeptOfScreen = 128;

// How many of a list compete for a position, and how many of them are scored on all draws.
constexpr std::size_t kKeptOfList = 32;
constexpr std::size_t kFinalists = 8;

// Rows of the data that a search looks around: the best values at hand.
constexpr int kAnchors = 4;

class Planner {
 public:
  Planner(const HorizonProblem& problem,
          const HorizonOptions& options,
          const SlopeConstraint& slopes,
          const BaseSamples& base,
          Rng& rng)
      : problem_(problem),
        options_(options),
        slopes_(slopes),
        rng_(rng),
        batch_(JointDraws(problem.model, slopes, base, options.value_jitter), problem.best, options.acquisition),
        open_(problem.candidates.size(), true) {
    for (const PendingRun& run : problem.pending) batch_.add(rows_at(run.x, run.group, run.until));
    for (std::size_t i = 0; i < open_.size(); ++i) open_[i] = problem.candidates[i].done < problem.max_epoch;
  }

  Horizon plan() {
    Horizon horizon;
    horizon.budget_left = problem_.budget;
    horizon.end = HorizonEnd::full;
    while (std::ssize(horizon.runs) < options_.length) {
      const std::optional<HorizonEnd> end = add_run(horizon);
      if (end) {
        horizon.end = *end;
        break;
      }
    }
    choose(horizon);
    horizon.draws = batch_.draws().draws();
    horizon.effective_draws = batch_.least_effective_draws();
    return horizon;
  }

 private:
  // A point with its score at the last epoch.
  struct Option {
    Vector x;
    int candidate = -1;
    CurveId group = 0;
    Epoch trained = 0;
    double score = 0.0;
  };

  Rows rows_at(const Vector& x, CurveId group, Epoch epoch) const {
    if (slopes_.max_epoch > 0) return slopes_.rows_and_value(x, group, epoch);
    return slopes_.rows_and_value_at_tau(x, group, static_cast<double>(epoch) / problem_.max_epoch);
  }

  Rows value_at(const Vector& x, CurveId group, Epoch epoch) const {
    return Rows::of_curve(x, {epoch}, problem_.max_epoch, group);
  }

  // Adds the next run, or says why there is none. Only the best of the list are ranked: while there are finished or
  // unaffordable ones among them, others move up in their place.
  std::optional<HorizonEnd> add_run(Horizon& horizon) {
    bool too_expensive = false;
    bool others_move_up = true;
    while (others_move_up) {
      others_move_up = false;
      for (const Option& option : ranked_options()) {
        const MonotoneGp posterior(problem_.model, Constraint::on_slopes(slopes_, option.x, option.group));
        PlannedRun run = planned(option, posterior);
        bool worth_it = run.until > run.from;  // else it is finished, and nothing is to gain
        if (worth_it && run.cost > horizon.budget_left) {
          too_expensive = true;
          if (!horizon.runs.empty()) return HorizonEnd::budget_spent;
          worth_it = shorten(run, horizon.budget_left);
        }
        close(option);
        if (worth_it) {
          append(std::move(run), posterior, horizon);
          return std::nullopt;
        }
        others_move_up = others_move_up || option.candidate >= 0;
      }
    }
    return too_expensive ? HorizonEnd::budget_spent : HorizonEnd::nothing_left;
  }

  Vector log_success(const Matrix& points) const {
    Vector logs = Vector::Zero(points.cols());
    Matrix unused;
    if (problem_.log_success) problem_.log_success(points, logs, unused);
    return logs;
  }

  // It is not looked at again: planned, finished, or more than the budget pays.
  void close(const Option& option) {
    if (option.candidate >= 0) {
      open_[static_cast<std::size_t>(option.candidate)] = false;
    } else {
      planned_.push_back(option.x);
    }
  }

  void append(PlannedRun run, const MonotoneGp& posterior, Horizon& horizon) {
    predict(run, posterior);
    run.score = batch_.add(rows_at(run.x, run.group, problem_.max_epoch));
    horizon.least_log_probability = std::min(horizon.least_log_probability, posterior.log_probability());
    horizon.budget_left -= run.cost;
    horizon.runs.push_back(std::move(run));
  }

  std::vector<Option> ranked_options() {
    std::vector<Option> options;
    if (problem_.new_points == NewPoints::from_cube) options = searched_options();
    for (Option& option : listed_options(options)) options.push_back(std::move(option));
    std::erase_if(options,
                  [](const Option& option) { return !(option.score > -std::numeric_limits<double>::infinity()); });
    std::stable_sort(
        options.begin(), options.end(), [](const Option& a, const Option& b) { return a.score > b.score; });
    return options;
  }

  // The best of the candidates that are still open. They are screened on few draws, and the very best scored on all of
  // them unless the best of the new configurations is ahead on the same few; the others stay behind. The work on the
  // data is done once for the whole plan.
  std::vector<Option> listed_options(const std::vector<Option>& new_options) {
    if (problem_.candidates.empty()) return {};
    if (listed_.empty()) listed_ = batch_.prepare(listed_rows());
    if (listed_success_.size() == 0) listed_success_ = log_success(listed_points());
    const Vector rough = batch_.objective(listed_, options_.screen_draws) + listed_success_;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (open_[i]) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rough[static_cast<Eigen::Index>(a)] > rough[static_cast<Eigen::Index>(b)];
    });
    if (order.size() > kKeptOfList) order.resize(kKeptOfList);

    const double to_beat = new_options.empty() ? -std::numeric_limits<double>::infinity() : rough_score(new_options[0]);
    std::vector<Option> options;
    std::vector<Rows> finalists;
    for (const std::size_t i : order) {
      const CurveAt& candidate = problem_.candidates[i];
      options.push_back(
          {candidate.x, static_cast<int>(i), candidate.group, candidate.done, rough[static_cast<Eigen::Index>(i)]});
      if (finalists.size() == kFinalists || options.back().score < to_beat) continue;
      finalists.push_back(rows_at(candidate.x, candidate.group, problem_.max_epoch));
    }
    Vector scores = batch_.objective(finalists);
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      scores[static_cast<Eigen::Index>(i)] += listed_success_[options[i].candidate];
    }
    double behind = new_options.empty() ? std::numeric_limits<double>::infinity() : new_options[0].score;
    if (scores.size() > 0) behind = std::min(behind, scores.minCoeff());
    for (std::size_t i = 0; i < options.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      options[i].score = at < scores.size() ? scores[at] : std::min(options[i].score, behind);
    }
    return options;
  }

  double rough_score(const Option& option) const {
    const std::vector<Rows> rows = {rows_at(option.x, option.group, problem_.max_epoch)};
    return batch_.objective(rows, options_.screen_draws)[0] + log_success(option.x)[0];
  }

  Matrix listed_points() const {
    Matrix points(problem_.model.rows().dim(), std::ssize(problem_.candidates));
    for (std::size_t i = 0; i < problem_.candidates.size(); ++i) {
      points.col(static_cast<Eigen::Index>(i)) = problem_.candidates[i].x;
    }
    return points;
  }

  std::vector<Rows> listed_rows() const {
    std::vector<Rows> rows;
    for (const CurveAt& candidate : problem_.candidates) {
      rows.push_back(rows_at(candidate.x, candidate.group, problem_.max_epoch));
    }
    return rows;
  }

  // Every position of the horizon screens the same points. What a point adds hardly ever grows when others are planned
  // before it, so only the best for the first position are kept, with their work on the data.
  void prepare_screen() {
    const Matrix all = new_points();
    if (all.cols() == 0) return;
    const Vector scores =
        batch_.objective(batch_.prepare_values(values_of(all, kScreenCurve)), options_.screen_draws) + log_success(all);
    std::vector<Eigen::Index> order(static_cast<std::size_t>(all.cols()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return scores[a] > scores[b]; });
    if (order.size() > kKeptOfScreen) order.resize(kKeptOfScreen);
    screen_ = all(Eigen::all, order);
    screened_ = batch_.prepare_values(values_of(screen_, kScreenCurve));
  }

  // Points of the cube that are new.
  Matrix new_points() const {
    Rng stream = rng_.fork("search");
    return free_screen_points(
        static_cast<int>(problem_.model.rows().dim()),
        anchors(),
        options_.search.raw_points,
        problem_.decode,
        [&](const Vector& x) { return is_taken(x); },
        stream);
  }

  // What the kept points of the screen add to the runs planned so far; a point that is one of these is out.
  Vector screen_scores() const {
    Vector scores = batch_.objective(screened_, options_.screen_draws);
    for (Eigen::Index i = 0; i < screen_.cols(); ++i) {
      if (is_taken(screen_.col(i))) scores[i] = -std::numeric_limits<double>::infinity();
    }
    return scores;
  }

  std::vector<Rows> rows_of(const Matrix& points, CurveId group) const {
    std::vector<Rows> rows;
    for (Eigen::Index i = 0; i < points.cols(); ++i) rows.push_back(rows_at(points.col(i), group, problem_.max_epoch));
    return rows;
  }

  // The same without slopes.
  Rows values_of(const Matrix& points, CurveId group) const {
    const auto count = static_cast<std::size_t>(points.cols());
    return Rows::at_epochs(points.transpose(),
                           std::vector<Epoch>(count, problem_.max_epoch),
                           problem_.max_epoch,
                           std::vector<CurveId>(count, group));
  }

  std::vector<Option> searched_options() {
    const CurveId group = kFirstNewCurve - batch_.draws().points();
    if (screen_.cols() == 0) prepare_screen();
    if (screen_.cols() == 0) return {};
    const auto tell = [](BatchImprovement::Gradients at, Vector& values, Matrix& gradients) {
      values = std::move(at.values);
      gradients = std::move(at.gradients);
    };
    const SearchObjective gain{
        .screen = [&](const Matrix&) { return screen_scores(); },
        .score = [&](const Matrix& points) { return batch_.objective(rows_of(points, group)); },
        .ascend =
            [&](const Matrix& points, Vector& values, Matrix& gradients) {
              tell(batch_.objective_gradients(rows_of(points, group), options_.ascent_draws), values, gradients);
            },
        .approach =
            [&](const Matrix& points, Vector& values, Matrix& gradients) {
              const PreparedValues at = batch_.prepare_values(values_of(points, group));
              tell(batch_.objective_gradients(at, options_.screen_draws), values, gradients);
            }};
    const SearchObjective objective = times(gain, problem_.log_success, screen_.rows());
    const std::vector<ScoredPoint> found = search_among(objective, screen_, problem_.decode, options_.search);
    std::vector<Option> options;
    for (const ScoredPoint& point : found) {
      if (std::ssize(options) == kMaxTries) break;
      if (!is_taken(point.x)) options.push_back({point.x, -1, group, 0, point.score});
    }
    return options;
  }

  // A configuration that is one of the list, was tried before, or is planned already is no new one.
  bool is_taken(const Vector& x) const {
    const auto is_x = [&](const Vector& other) { return other == x; };
    return std::any_of(problem_.candidates.begin(),
                       problem_.candidates.end(),
                       [&](const CurveAt& candidate) { return candidate.x == x; }) ||
           std::any_of(problem_.taken.begin(), problem_.taken.end(), is_x) ||
           std::any_of(planned_.begin(), planned_.end(), is_x);
  }

  // The configurations with the best values, without repetition.
  Matrix anchors() const {
    const ExactGp& model = problem_.model;
    std::vector<Eigen::Index> order;
    for (Eigen::Index i = 0; i < model.size(); ++i) order.push_back(i);
    std::stable_sort(
        order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return model.y()[a] > model.y()[b]; });
    std::vector<Eigen::Index> chosen;
    for (const Eigen::Index i : order) {
      if (std::ssize(chosen) == kAnchors) break;
      const bool is_new = std::none_of(
          chosen.begin(), chosen.end(), [&](Eigen::Index j) { return model.rows().x.row(i) == model.rows().x.row(j); });
      if (is_new) chosen.push_back(i);
    }
    Matrix result(model.rows().dim(), static_cast<Eigen::Index>(chosen.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      result.col(static_cast<Eigen::Index>(i)) = model.rows().x.row(chosen[i]).transpose();
    }
    return result;
  }

  PlannedRun planned(const Option& option, const MonotoneGp& posterior) const {
    const Epoch earliest = std::max(problem_.min_epoch, option.trained + problem_.first_look);
    const StopRule rule{.epsilon = problem_.epsilon,
                        .min_epoch = std::min(earliest, problem_.max_epoch),
                        .max_epoch = problem_.max_epoch};
    PlannedRun run;
    run.x = option.x;
    run.candidate = option.candidate;
    run.group = option.group;
    run.from = option.trained;
    run.until = conservative_stop(posterior, option.x, option.group, rule);
    run.cost = run.until > run.from ? problem_.cost(run.x, run.from, run.until) : 0.0;
    return run;
  }

  // The most epochs that the budget pays; false if they are too few.
  bool shorten(PlannedRun& run, Cost budget) const {
    Epoch low = std::max(problem_.min_epoch, run.from + 1);
    if (low > run.until || problem_.cost(run.x, run.from, low) > budget) return false;
    Epoch high = run.until;
    while (low < high) {
      const Epoch middle = low + (high - low + 1) / 2;
      if (problem_.cost(run.x, run.from, middle) <= budget) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    run.until = low;
    run.cost = problem_.cost(run.x, run.from, low);
    run.shortened = true;
    return true;
  }

  void predict(PlannedRun& run, const MonotoneGp& posterior) const {
    const Rows row = value_at(run.x, run.group, run.until);
    const Moments moments = posterior.predict(row);
    run.mean = moments.mean[0];
    run.sd = std::sqrt(moments.variance[0]);
    run.log_improvement = log_constrained_improvement(posterior, row, problem_.best) + log_success(run.x)[0];
    // A run that costs nothing would be worth any improvement; the smallest number keeps the order finite.
    run.log_improvement_per_cost = run.log_improvement - std::log(std::max(run.cost, 1e-300));
  }

  static void choose(Horizon& horizon) {
    for (std::size_t i = 0; i < horizon.runs.size(); ++i) {
      const double value = horizon.runs[i].log_improvement_per_cost;
      if (horizon.chosen < 0 || value > horizon.next().log_improvement_per_cost) horizon.chosen = static_cast<int>(i);
    }
  }

  const HorizonProblem& problem_;
  const HorizonOptions& options_;
  const SlopeConstraint& slopes_;
  Rng& rng_;
  BatchImprovement batch_;
  std::vector<bool> open_;
  BatchImprovement::Prepared listed_;
  Vector listed_success_;        // of all candidates
  std::vector<Vector> planned_;  // new configurations among the runs
  Matrix screen_;                // d x points
  PreparedValues screened_;
};

}  // namespace

void HorizonProblem::validate() const {
  require(min_epoch >= 1 && min_epoch <= max_epoch,
          fmt::format("horizon: epochs from {} to {}, must be at least 1 and in order", min_epoch, max_epoch));
  require(epsilon >= 0.0, fmt::format("horizon.epsilon = {}, must not be negative", epsilon));
  require(first_look >= 0, fmt::format("horizon.first_look = {}, must not be negative", first_look));
  require(static_cast<bool>(cost), "horizon: no cost function");
}

void HorizonOptions::validate() const {
  require(length >= 1, fmt::format("horizon.length = {}, must be at least 1", length));
  require(draws >= 8, fmt::format("horizon.draws = {}, must be at least 8", draws));
  require(max_draws >= draws, fmt::format("horizon.max_draws = {}, must be at least draws = {}", max_draws, draws));
  require(screen_draws >= 1, fmt::format("horizon.screen_draws = {}, must be at least 1", screen_draws));
  require(ascent_draws >= 1, fmt::format("horizon.ascent_draws = {}, must be at least 1", ascent_draws));
  acquisition.validate();
  search.validate();
}

Horizon plan_horizon(const HorizonProblem& problem,
                     const HorizonOptions& options,
                     const SlopeConstraint& slopes,
                     const BaseSamples& base,
                     Rng& rng) {
  problem.validate();
  options.validate();
  require(base.normals.cols() >= options.length + std::ssize(problem.pending),
          "horizon: base samples for fewer points than may be planned");
  return Planner(problem, options, slopes, base, rng).plan();
}

Horizon plan_horizon(const HorizonProblem& problem,
                     const HorizonOptions& options,
                     const SlopeConstraint& slopes,
                     Rng& rng) {
  problem.validate();
  options.validate();
  const int points = options.length + static_cast<int>(problem.pending.size());
  Horizon horizon;
  for (int draws = options.draws; draws <= options.max_draws; draws *= 2) {
    Rng stream = rng.fork("base samples");
    const BaseSamples base = BaseSamples::draw(draws, points, slopes.size(), stream);
    horizon = plan_horizon(problem, options, slopes, base, rng);
    if (horizon.effective_draws >= kFewDraws) break;
  }
  return horizon;
}

}  // namespace bapi
