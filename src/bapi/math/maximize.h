#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "bapi/math/types.h"

namespace bapi {

// low <= x <= high, elementwise.
struct Box {
  Vector low;
  Vector high;
};

struct MaximizeOptions {
  // Accepted steps.
  int max_iterations = 100;

  // Ends when a step raises the value by less than this times max(1, |value|).
  double relative_tolerance = 1e-8;

  // Ends when a step raises the value by less than this.
  double value_tolerance = 0.0;

  // Ends when no element of the gradient that the box lets act is larger than this.
  double gradient_tolerance = 1e-7;

  // Length of the first step; later ones are scaled by the curvature seen.
  double first_step = 0.1;

  // Steps remembered for the curvature.
  int memory = 8;

  void validate() const;
};

enum class MaximizeEnd { converged, iteration_limit, no_progress };

struct MaximizeSummary {
  Vector x;
  double value = 0.0;
  double initial_value = 0.0;
  MaximizeEnd end = MaximizeEnd::no_progress;
  int iterations = 0;
  int evaluations = 0;
};

// Limited-memory quasi-Newton ascent within a box, turned inside out: it names the point it wants to know about and is
// told value and gradient there. Several of them can so be advanced together and share one batched evaluation.
//
// Directions act on the coordinates that are not held by a bound; steps are projected into the box and shortened until
// the value grows enough. A value that is not finite counts as too low, so the objective may refuse points.
class BoxAscent {
 public:
  BoxAscent(const Vector& start, const Box& box, const MaximizeOptions& options);

  bool done() const { return done_; }
  const Vector& point() const { return trial_; }  // where value and gradient are wanted next
  void tell(double value, const Vector& gradient);
  MaximizeSummary summary() const;

 private:
  struct Pair {
    Vector step;
    Vector change;  // of the gradient
    double inverse_product;
  };

  void accept(double value, const Vector& gradient);
  void start_line();
  void shorten(double value);
  void finish(MaximizeEnd end);
  Vector free_gradient() const;
  Vector direction() const;

  Box box_;
  MaximizeOptions options_;
  std::deque<Pair> pairs_;
  Vector x_;
  Vector gradient_;
  Vector direction_;
  Vector trial_;
  double value_ = 0.0;
  double initial_value_ = 0.0;
  double length_ = 0.0;
  int shortened_ = 0;
  int iterations_ = 0;
  int evaluations_ = 0;
  bool started_ = false;
  bool done_ = false;
  MaximizeEnd end_ = MaximizeEnd::no_progress;
};

// Returns the value at x and writes its gradient.
using Objective = std::function<double(const Vector& x, Vector& gradient)>;

// Writes values (m) and gradients (d x m) at the m columns of `points` (d x m).
using BatchObjective = std::function<void(const Matrix& points, Vector& values, Matrix& gradients)>;

MaximizeSummary maximize(const Objective& objective,
                         const Box& box,
                         const Vector& start,
                         const MaximizeOptions& options = {});

// One ascent from every column of `starts` (d x m), advanced together: each round asks for all unfinished points at
// once. The result of an ascent does not depend on its company. In the order of the starts.
std::vector<MaximizeSummary> maximize_together(const BatchObjective& objective,
                                               const Box& box,
                                               const Matrix& starts,
                                               const MaximizeOptions& options = {});

}  // namespace bapi
