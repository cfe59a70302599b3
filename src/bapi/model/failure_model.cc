#include "bapi/model/failure_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

constexpr double kChanceFailure = 0.1;     // r: of a training that fails by bad luck
constexpr double kSurvival = 0.1;          // s: of a training where all fail; edges of regions are not sharp
constexpr double kPriorSides = 0.12;       // that failures come from one side, half of it for the coordinates
constexpr double kPriorNeighbours = 0.03;  // that all fail around a given configuration
constexpr double kLuck = 1.0 - kPriorSides - kPriorNeighbours;
constexpr double kLength = 0.2;     // l: of a neighbourhood, per coordinate
constexpr int kMixtures = 64;       // planes that are not those of a coordinate
constexpr double kExcluded = 1e12;  // off the logarithm of what comes last. Logarithms of improvements fall with the
                                    // square of the standard deviations to the best value
constexpr double kChance = 0.5;     // what is less likely to succeed comes last
constexpr double kNearEdge = 0.75;  // the same once one side is likelier than luck: then only its edge is unknown

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return larger + std::log(std::exp(a - larger) + std::exp(b - larger));
}

// Log likelihood ratios of "all fail here" to luck, for every training.
Vector log_ratios_of(const std::vector<TrainingOutcome>& outcomes) {
  std::vector<Epoch> failures;  // epochs, ascending
  for (const TrainingOutcome& each : outcomes) {
    if (each.failed) failures.push_back(each.epoch);
  }
  std::sort(failures.begin(), failures.end());
  Vector logs(std::ssize(outcomes));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    double& log = logs[static_cast<Eigen::Index>(i)];
    log = -std::log(kChanceFailure);
    if (outcomes[i].failed) continue;
    const auto by_then = std::upper_bound(failures.begin(), failures.end(), outcomes[i].epoch) - failures.begin();
    const double share = static_cast<double>(by_then) / static_cast<double>(failures.size());
    log = std::log(std::max(kSurvival, 1.0 - share) / (1.0 - kChanceFailure * share));
  }
  return logs;
}

// Normals of planes: the coordinates, then mixtures of them, the same for every study.
Matrix normals_of(Eigen::Index d) {
  const Eigen::Index mixtures = d > 1 ? kMixtures : 0;
  Matrix normals(d, d + mixtures);
  normals.leftCols(d).setIdentity();
  Rng rng = Rng(0).fork("failure planes", static_cast<std::uint64_t>(d));
  for (Eigen::Index j = d; j < normals.cols(); ++j) {
    for (double& component : normals.col(j)) component = rng.normal();
    normals.col(j).normalize();
  }
  return normals;
}

}  // namespace

// Both sides of the planes with one normal. Places along it are scaled to [0, 1] over the cube, and thresholds lie in
// the gaps between the trainings' places.
class FailureModel::Sides {
 public:
  // `log_prior` is that of each of both sides.
  Sides(const Vector& normal, const Matrix& x, const Vector& log_ratios, double log_prior)
      : normal_(normal), origin_(normal.cwiseMin(0.0).sum()), width_(normal.cwiseAbs().sum()) {
    std::map<double, double> at = {{0.0, 0.0}, {1.0, 0.0}};  // place -> sum of log ratios
    for (Eigen::Index i = 0; i < x.cols(); ++i) at[place(x.col(i))] += log_ratios[i];
    const auto gaps = static_cast<Eigen::Index>(at.size()) - 1;
    edges_.resize(gaps + 1);
    above_.resize(gaps);
    below_.resize(gaps);
    Eigen::Index k = 0;
    double sum = 0.0;
    for (const auto& [edge, log_ratio] : at) {
      edges_[k] = edge;
      sum += log_ratio;
      if (k < gaps) below_[k] = log_prior + sum;  // of the trainings up to this edge
      ++k;
    }
    sum = 0.0;
    for (auto edge = at.rbegin(); k-- > 1; ++edge) {
      sum += edge->second;
      above_[k - 1] = log_prior + sum;
    }
  }

  double largest_log() const { return std::max(above_.maxCoeff(), below_.maxCoeff()); }

  // From log densities to masses in a unit that keeps them from overflowing; their sum.
  double settle(double log_unit) {
    const Eigen::Index gaps = above_.size();
    const Vector widths = edges_.tail(gaps) - edges_.head(gaps);
    above_ = widths.array() * (above_.array() - log_unit).exp();
    below_ = widths.array() * (below_.array() - log_unit).exp();
    above_beyond_ = Vector::Zero(gaps);
    below_before_ = Vector::Zero(gaps);
    for (Eigen::Index g = 1; g < gaps; ++g) {
      below_before_[g] = below_before_[g - 1] + below_[g - 1];
      above_beyond_[gaps - 1 - g] = above_beyond_[gaps - g] + above_[gaps - g];
    }
    return above_.sum() + below_.sum();
  }

  // The mass of the sides that do not contain x, added to `mass`, and its gradient to `gradient`.
  void add_without(const Vector& x, double& mass, Vector& gradient) const {
    const double u = place(x);
    const Eigen::Index gaps = above_.size();
    const double* first = edges_.data();
    const Eigen::Index gap =
        std::clamp<Eigen::Index>(std::lower_bound(first, first + gaps + 1, u) - first - 1, 0, gaps - 1);
    const double width = edges_[gap + 1] - edges_[gap];
    const double share = (u - edges_[gap]) / width;
    mass += above_beyond_[gap] + (1.0 - share) * above_[gap] + below_before_[gap] + share * below_[gap];
    gradient += (below_[gap] - above_[gap]) / (width * width_) * normal_;
  }

 private:
  double place(const Vector& x) const { return std::clamp((normal_.dot(x) - origin_) / width_, 0.0, 1.0); }

  Vector normal_;
  double origin_;  // the least of normal . x over the cube
  double width_;   // and how far it reaches from there
  Vector edges_;   // ascending, from 0 to 1
  Vector above_;   // of each gap: the mass of "fails above a threshold in it"
  Vector below_;
  Vector above_beyond_;  // of each gap: the sum of `above_` over the gaps after it
  Vector below_before_;  // and of `below_` over those before it
};

struct FailureModel::Fit {
  Matrix x;  // d x n
  Vector log_ratios;
  std::vector<Sides> sides = {};
  double log_unit = 0.0;   // of the masses of luck and sides
  double luck = kLuck;     // in that unit
  double all_sides = 0.0;  // in that unit

  explicit Fit(const std::vector<TrainingOutcome>& outcomes)
      : x(outcomes.front().x.size(), std::ssize(outcomes)), log_ratios(log_ratios_of(outcomes)) {
    for (std::size_t i = 0; i < outcomes.size(); ++i) x.col(static_cast<Eigen::Index>(i)) = outcomes[i].x;
    const Matrix normals = normals_of(x.rows());
    const Eigen::Index mixtures = normals.cols() - x.rows();
    const double coordinates_share = mixtures > 0 ? 0.5 : 1.0;
    for (Eigen::Index j = 0; j < normals.cols(); ++j) {
      const bool coordinate = j < x.rows();
      const double share = coordinate ? coordinates_share / static_cast<double>(x.rows())
                                      : (1.0 - coordinates_share) / static_cast<double>(mixtures);
      sides.emplace_back(normals.col(j), x, log_ratios, std::log(0.5 * kPriorSides * share));
      log_unit = std::max(log_unit, sides.back().largest_log());
    }
    luck = kLuck * std::exp(-log_unit);
    for (Sides& each : sides) all_sides += each.settle(log_unit);
  }

  struct LogSuccess {
    double value = 0.0;
    Vector gradient;
  };

  LogSuccess at(const Vector& point) const {
    double without = luck;
    Vector without_slope = Vector::Zero(point.size());
    for (const Sides& each : sides) each.add_without(point, without, without_slope);
    const double squared_length = kLength * kLength * static_cast<double>(point.size());
    double near = std::log(kPriorNeighbours);
    Vector near_slope = Vector::Zero(point.size());
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      const Vector apart = point - x.col(i);
      const double share = std::exp(-0.5 * apart.squaredNorm() / squared_length) * log_ratios[i];
      near += share;
      near_slope -= share / squared_length * apart;
    }
    const double log_all = log_sum(std::log(luck + all_sides) + log_unit, near);
    return {.value = std::log(without) + log_unit - log_all,
            .gradient = without_slope / without - std::exp(near - log_all) * near_slope};
  }
};

FailureModel::FailureModel(const std::vector<TrainingOutcome>& outcomes) {
  const bool failed =
      std::any_of(outcomes.begin(), outcomes.end(), [](const TrainingOutcome& each) { return each.failed; });
  if (failed) fit_ = std::make_shared<const Fit>(outcomes);
}

double FailureModel::success(const Vector& x) const { return fit_ ? std::exp(fit_->at(x).value) : 1.0; }

Vector FailureModel::log_factors(const Matrix& points) const {
  Vector logs;
  Matrix gradients;
  log_factors(points, logs, gradients);
  return logs;
}

void FailureModel::log_factors(const Matrix& points, Vector& logs, Matrix& gradients) const {
  logs = Vector::Zero(points.cols());
  gradients = Matrix::Zero(points.rows(), points.cols());
  if (!fit_) return;
  const double log_enough = std::log(fit_->all_sides > fit_->luck ? kNearEdge : kChance);
  for (Eigen::Index p = 0; p < points.cols(); ++p) {
    Fit::LogSuccess at = fit_->at(points.col(p));
    logs[p] = at.value < log_enough ? at.value - kExcluded : at.value;
    gradients.col(p) = std::move(at.gradient);
  }
}

BatchObjective FailureModel::factor() const {
  if (!fit_) return {};
  return [model = *this](const Matrix& points, Vector& logs, Matrix& gradients) {
    model.log_factors(points, logs, gradients);
  };
}

}  // namespace bapi
