#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "bapi/gp/joint_draws.h"
#include "bapi/math/maximize.h"
#include "bapi/math/types.h"

namespace bapi {

// What a set of points is worth together.
enum class BatchScore {
  // q-EI: E max(0, max_i f_i - best). The last point is integrated in closed form given the draws of those before it
  // (Rao-Blackwell): the expectation of a plain average over the draws, smooth, with less variance.
  improvement,
  upper_bound,  // q-UCB: E max_i (mu_i + sqrt(beta pi / 2) |f_i - mu_i|)
  probability,  // q-PI: E max_i sigmoid((f_i - best) / temperature), a smooth P(max_i f_i >= best)
};

inline constexpr double kUpperBoundBeta = 2.0;
inline constexpr double kProbabilityTemperature = 0.1;  // in units of the values

// total: what the whole set is worth. gain: what the last point adds to it, E max(0, f - max(best, f_1, ...)). Both
// rank candidates alike but for one thing: the slope constraint of a candidate also moves what is believed of the
// points before it. That part is no merit of the candidate, and in an average over few draws it is mostly noise; gain
// leaves it out. Only q-EI tells them apart.
enum class Counting { total, gain };

struct BatchOptions {
  BatchScore score = BatchScore::improvement;
  Counting counting = Counting::total;

  // When fewer than this share of the draws carry the weight after a point was added, they are resampled. 0: never.
  double resample_share = 0.0;

  void validate() const;
};

// Scores sets of points one by one: the points already added and one candidate, the value of each at its own epoch, on
// the same draws. Larger is better; scores of one state are comparable with each other.
class BatchImprovement {
 public:
  BatchImprovement(JointDraws draws, double best, const BatchOptions& options = {});

  const JointDraws& draws() const { return draws_; }

  // Scores of candidates (slope rows and value row each), with the first `draws` draws, 0 for all. log_scores of q-EI
  // are finite where the score itself underflows.
  Vector scores(const std::vector<Rows>& candidates, int draws = 0) const;
  Vector log_scores(const std::vector<Rows>& candidates, int draws = 0) const;

  // For candidates that are scored again and again as points are added: the work on the data is done once.
  using Prepared = std::vector<PreparedPoints>;
  Prepared prepare(const std::vector<Rows>& candidates) const;
  Vector objective(const Prepared& candidates, int draws = 0) const;

  // Score and gradient in x of candidates: d x candidates.
  struct Gradients {
    Vector values;
    Matrix gradients;
  };
  Gradients score_gradients(const std::vector<Rows>& candidates, int draws = 0) const;

  // What an ascent should climb, with its gradient: log of the score for q-EI, which has no plateaus, else the score.
  Vector objective(const std::vector<Rows>& candidates, int draws = 0) const;
  Gradients objective_gradients(const std::vector<Rows>& candidates, int draws = 0) const;

  // The same of candidates without slopes of their own: an approximation to look around with.
  PreparedValues prepare_values(Rows values) const { return draws_.prepare_values(std::move(values)); }
  Vector objective(const PreparedValues& candidates, int draws = 0) const;
  Gradients objective_gradients(const PreparedValues& candidates, int draws = 0) const;

  // Adds the point and returns its score; its draws stay, unless they are resampled.
  double add(const Rows& point);

  // The least number of draws that carried the weight after any point was added.
  double least_effective_draws() const { return least_effective_draws_; }

 private:
  struct Seen;     // what the draws say about the value of one candidate
  struct PerDraw;  // score of each draw, and its derivatives in mean, sd and weight
  static Seen seen(const DrawExtension& at);
  static Seen seen(const PreparedValues& values, const ValueExtension& at, Eigen::Index i);
  PerDraw per_draw(const Seen& at) const;
  double before(Eigen::Index draw) const;  // worth of the points before, as far as it counts
  double centre_of(const Seen& at) const;
  double score_of(const Seen& at) const;
  double log_score_of(const Seen& at) const;
  double objective_of(const Seen& at) const;
  int draws_to_use(int draws) const;
  Gradients in_units_of_objective(Gradients score) const;

  JointDraws draws_;
  double best_;
  BatchOptions options_;
  double least_effective_draws_;
  Vector reached_;  // N: best of the points so far in each draw, in the score's own units
};

}  // namespace bapi
